import { expect, test } from '@jest/globals';
import { testAccount } from '../support/accounts.ts';
import { accessFaults } from './access-faults.ts';
import { cutTexts, startSession } from './session.ts';
import { installWallet } from './test-wallet.ts';

const session = startSession();

let account = 0;

test.each([
  // 320 px is also 1280 px enlarged to 400 %.
  { width: 320, colorScheme: 'dark' as const },
  { width: 375, colorScheme: 'light' as const },
  { width: 1280, colorScheme: 'dark' as const },
])('in every state all is legible, and nothing is to be scrolled sideways for: %j', async ({ width, colorScheme }) => {
  await using watched = await session.openPage({ colorScheme, viewport: { width, height: 640 } });
  const { page, complaints } = watched;
  const checkLayout = async () => {
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    expect(await cutTexts(page)).toEqual([]);
  };
  const check = async () => {
    expect(await accessFaults(page)).toEqual([]);
    await checkLayout();
  };
  await page.goto(`${session.url}/cli`);
  await page.getByText('This browser shows no wallet.').waitFor();
  await check();

  account += 1;
  const wallet = await installWallet(page, testAccount(account));
  await page.reload();
  await page.getByRole('button', { name: 'Test Wallet' }).click();
  await page.getByRole('heading', { name: 'Sign one message' }).waitFor();
  await check();
  wallet.answer = 'no';
  await page.getByRole('button', { name: 'Sign and get a key' }).click();
  await page.getByRole('alert').getByText('You declined').waitFor();
  await check();

  const paused = Promise.withResolvers<void>();
  Object.assign(wallet, { answer: 'yes', pause: paused.promise });
  await page.getByRole('button', { name: 'Sign and get a key' }).click();
  await page.getByRole('status').getByText('Look at Test Wallet').waitFor();
  await check();
  // Screen readers skip what is marked as busy.
  expect(await page.locator('[aria-busy=true]').count()).toBe(0);
  paused.resolve();

  await page.getByRole('heading', { name: 'Your key', exact: true }).waitFor();
  const clients = page.getByRole('combobox', { name: 'Client' });
  for (const client of await clients.locator('option').allTextContents()) {
    await clients.selectOption(client);
    await checkLayout();
  }
  await check();
  await page.getByRole('button', { name: /^Revoke/ }).click();
  await check();

  const answered = Promise.withResolvers<void>();
  await page.route('**/cli/keys/revoke', async (route) => {
    await answered.promise;
    await route.continue();
  });
  await page.getByRole('button', { name: /^Yes, revoke/ }).click();
  const status = page.getByRole('status').getByText('Revoking…');
  await status.waitFor();
  await page.mouse.wheel(0, 9000);
  const { y = -1 } = (await status.boundingBox()) ?? {};
  expect(y).toBeGreaterThanOrEqual(0);
  expect(y).toBeLessThan(640);
  answered.resolve();
  await page.getByText('Revoked. Within a minute').waitFor();
  await check();
  expect(complaints).toEqual([]);
});
