import { expect, test } from '@jest/globals';
import { testAccount } from '../support/accounts.ts';
import { alert, click, expectLegible, expectUncut, heading, startSession } from './session.ts';
import { installWallet } from './test-wallet.ts';

const session = startSession();

test.each([
  // 320 px is also 1280 px enlarged to 400 %.
  { width: 320, colorScheme: 'dark' as const },
  { width: 1280, colorScheme: 'light' as const },
])('in every state all is legible, and nothing is to be scrolled sideways for: %j', async ({ width, colorScheme }) => {
  const viewport = { width, height: 640 };
  const { page, complaints } = await session.openPage('/cli', { colorScheme, viewport });
  await page.getByText('This browser shows no wallet.').waitFor();
  await expectLegible(page);

  const wallet = await installWallet(page, testAccount(width));
  await page.reload();
  await click(page, 'Test Wallet');
  await heading(page, 'Sign one message');
  await expectLegible(page);
  wallet.answer = 'no';
  await click(page, 'Sign and get a key');
  await alert(page, 'You declined');
  await expectLegible(page);

  const paused = Promise.withResolvers<void>();
  Object.assign(wallet, { answer: 'yes', pause: paused.promise });
  await click(page, 'Sign and get a key');
  await page.getByRole('status').getByText('Look at Test Wallet').waitFor();
  await expectLegible(page);
  // Screen readers skip what is marked as busy.
  expect(await page.locator('[aria-busy=true]').count()).toBe(0);
  paused.resolve();

  await heading(page, 'Your key');
  const clients = page.getByRole('combobox', { name: 'Client' });
  for (const client of await clients.locator('option').allTextContents()) {
    await clients.selectOption(client);
    await expectUncut(page);
  }
  await expectLegible(page);
  await click(page, /^Revoke/);
  await expectLegible(page);

  const answered = Promise.withResolvers<void>();
  await page.route('**/cli/keys/revoke', async (route) => {
    await answered.promise;
    await route.continue();
  });
  await click(page, /^Yes, revoke/);
  const status = page.getByRole('status').getByText('Revoking…');
  await status.waitFor();
  await page.mouse.wheel(0, 9000);
  const { y = -1 } = (await status.boundingBox()) ?? {};
  expect(y).toBeGreaterThanOrEqual(0);
  expect(y).toBeLessThan(640);
  answered.resolve();
  await page.getByText('Revoked. Within a minute').waitFor();
  await expectLegible(page);
  expect(complaints).toEqual([]);
});
