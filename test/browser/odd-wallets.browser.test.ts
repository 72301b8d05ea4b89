import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { testAccount } from '../support/accounts.ts';
import { alert, click, expectLegibleInAllLooks, expectUncut, headed, heading, looks, startSession } from './session.ts';

const session = startSession();

const focused = (page: Page) => page.evaluate('document.activeElement.textContent');

test('a person can stop waiting for a wallet that never answers', async () => {
  const { page, complaints, wallet } = await session.openCli(1);
  const never = new Promise<void>(() => {});
  wallet.pause = never;
  await click(page, 'Test Wallet');
  await page.getByRole('button', { name: 'Stop waiting' }).waitFor();
  await expectLegibleInAllLooks(page);
  await click(page, 'Stop waiting');
  await alert(page, 'The page no longer waits for Test Wallet.');
  expect(await focused(page)).toBe('Test Wallet');
  wallet.pause = undefined;
  await click(page, 'Test Wallet');
  await heading(page, 'Sign one message');
  wallet.pause = never;
  await click(page, /^Sign in$/);
  await click(page, 'Stop waiting');
  await alert(page, 'The page no longer waits for Test Wallet.');
  wallet.pause = undefined;
  await click(page, /^Sign in$/);
  await heading(page, 'Your account');
  expect(await page.getByRole('button', { name: 'Stop waiting' }).isVisible()).toBe(false);
  expect(complaints).toEqual([]);
});

test('another account chosen in the wallet must connect; the same one need not', async () => {
  const [first, second] = [testAccount(2), testAccount(3)];
  const { page, wallet } = await session.openCli(2);
  await click(page, 'Test Wallet');
  await heading(page, 'Sign one message');
  await wallet.tellAccounts([first.address.toLowerCase()]);
  expect(await headed(page, 'Sign one message').isVisible()).toBe(true);

  wallet.account = second;
  await wallet.tellAccounts([second.address]);
  await page.getByText('Another account was chosen in Test Wallet.').waitFor();
  await expectLegibleInAllLooks(page);
  await click(page, 'Test Wallet');
  await click(page, /^Sign in$/);
  await heading(page, 'Your account');
  expect(wallet.shown).toEqual([expect.stringContaining(second.address)]);
});

test('the page signs on the chain that the wallet is on, and a signature by another account is refused', async () => {
  const { page, wallet } = await session.openCli(4);
  await click(page, 'Test Wallet');
  await heading(page, 'Sign one message');
  Object.assign(wallet, { chainId: '0x89', account: testAccount(5) });
  await click(page, /^Sign in$/);
  await alert(page, 'Is another account selected in the wallet?');
  expect(await headed(page, 'Your account').isVisible()).toBe(false);
  expect(wallet.shown).toEqual([expect.stringContaining('\nChain ID: 137\n')]);
});

const announce = (page: Page, detail: string) =>
  page.evaluate(`dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: ${detail} }))`);
const provider = 'provider: { request: async () => [] }';

test('a wallet that appears late is noticed, and two are shown side by side', async () => {
  const { page } = await session.openPage('/cli');
  await page.getByText('This browser shows no wallet.').waitFor();
  await announce(page, `{ info: { uuid: '1', name: 'Late' }, ${provider} }`);
  await announce(page, `{ info: { uuid: '2', name: 'Later' }, ${provider} }`);
  await announce(page, `{ info: { uuid: '2', name: 'Later' }, ${provider} }`);
  expect(await page.locator('#wallets button').allTextContents()).toEqual(['Late', 'Later']);
  expect(await page.getByText('This browser shows no wallet.').isVisible()).toBe(false);
  await click(page, 'Later');
  await alert(page, 'Later showed no account. Is it unlocked?');
  await expectLegibleInAllLooks(page);
});

test('nothing that a wallet announces can run, load or break the page', async () => {
  const { page, complaints, origins } = await session.openPage('/cli', looks[0]);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>parent.document.title = 'Evil'</script><image href="https://evil.example/svg.png"/></svg>`;
  for (const nothing of ['null', '7', '{}', `{ info: {}, ${provider} }`, `{ info: { uuid: '0', name: 'None' } }`]) {
    await announce(page, nothing);
  }
  const hostile: readonly [name: string, icon?: unknown][] = [
    ['<img src="x" onerror="document.title = 1">', {}],
    ['L'.repeat(400)],
    ['From elsewhere', 'https://evil.example/i.png'],
    ['A picture that runs', `data:image/svg+xml,${encodeURIComponent(svg)}`],
  ];
  for (const [name, icon] of hostile) {
    await announce(page, `{ info: ${JSON.stringify({ uuid: name.slice(0, 5), name, icon })}, ${provider} }`);
  }
  expect(await page.locator('#wallets button').allTextContents()).toEqual(hostile.map(([name]) => name));
  const decode = `Promise.all([...document.querySelectorAll('#wallets img')].map((image) => image.decode().catch(() => {})))`;
  await page.evaluate(decode);
  expect(await page.title()).toBe('Get your API key · svc');
  await expectUncut(page);
  expect([...origins]).toEqual([session.url]);
  expect(complaints).toEqual([]);
});
