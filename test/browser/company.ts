import type { Page } from 'playwright-core';

export const click = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click();
export const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor();

/** The provider's own pages: who, and what they allow. */
export async function signInThere(page: Page, login: string) {
  await page.locator('[name=login]').fill(login);
  await page.locator('[name=password]').fill('any');
  await page.locator('[type=submit]').click();
  await page.getByRole('button', { name: /continue/i }).click();
}
