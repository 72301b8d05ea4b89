import type { Page } from 'playwright-core';

/** Goes on to what has this name as those do who have no mouse. */
export async function tabTo(page: Page, name: string) {
  for (let stops = 0; stops < 40; stops += 1) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate('document.activeElement.textContent.trim()')) === name) return;
  }
  throw new Error(`Tab never comes to ${name}`);
}

/** The provider's own pages: who, and what they allow. */
export async function signInThere(page: Page, login: string) {
  await page.locator('[name=login]').fill(login);
  await page.locator('[name=password]').fill('any');
  await page.locator('[type=submit]').click();
  await page.getByRole('button', { name: /continue/i }).click();
}
