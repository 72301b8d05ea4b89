import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { testAccount } from '../support/accounts.ts';
import { click, heading, startSession } from './session.ts';
import { installWallet } from './test-wallet.ts';

const session = startSession();

const headed = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });
const focused = (page: Page) => page.evaluate('document.activeElement.textContent');

test('a person can stop waiting for a wallet that never answers', async () => {
  await using watched = await session.openPage();
  const { page, complaints } = watched;
  const wallet = await installWallet(page, testAccount(1));
  const never = new Promise<void>(() => {});
  await page.goto(`${session.url}/cli`);
  wallet.pause = never;
  await click(page, 'Test Wallet');
  await click(page, 'Stop waiting');
  await page.getByRole('alert').getByText('The page waits for Test Wallet no longer.').waitFor();
  expect(await focused(page)).toBe('Test Wallet');
  wallet.pause = undefined;
  await click(page, 'Test Wallet');
  await heading(page, 'Sign one message');
  wallet.pause = never;
  await click(page, 'Sign and get a key');
  await click(page, 'Stop waiting');
  await page.getByRole('alert').getByText('The page waits for Test Wallet no longer.').waitFor();
  wallet.pause = undefined;
  await click(page, 'Sign and get a key');
  await heading(page, 'Your key');
  expect(await page.getByRole('button', { name: 'Stop waiting' }).isVisible()).toBe(false);
  expect(complaints).toEqual([]);
});

test('another account chosen in the wallet must connect; the same one need not', async () => {
  await using watched = await session.openPage();
  const { page } = watched;
  const [first, second] = [testAccount(2), testAccount(3)];
  const wallet = await installWallet(page, first);
  await page.goto(`${session.url}/cli`);
  await click(page, 'Test Wallet');
  await heading(page, 'Sign one message');
  await wallet.tellAccounts([first.address.toLowerCase()]);
  expect(await headed(page, 'Sign one message').isVisible()).toBe(true);

  wallet.account = second;
  await wallet.tellAccounts([second.address]);
  await page.getByText('Another account was chosen in Test Wallet.').waitFor();
  await click(page, 'Test Wallet');
  await click(page, 'Manage keys only');
  await heading(page, 'Your wallet');
  expect(wallet.shown).toEqual([expect.stringContaining(second.address)]);
});

test('a signature by an account other than the connected one is refused', async () => {
  await using watched = await session.openCli(4);
  const { page, wallet } = watched;
  await click(page, 'Test Wallet');
  await heading(page, 'Sign one message');
  wallet.account = testAccount(5);
  await click(page, 'Sign and get a key');
  await page.getByRole('alert').getByText('Is another account selected in the wallet?').waitFor();
  expect(await headed(page, 'Your key').isVisible()).toBe(false);
});

test('the message names the chain that the wallet is on when it signs', async () => {
  await using watched = await session.openCli(6);
  const { page, wallet } = watched;
  await click(page, 'Test Wallet');
  await heading(page, 'Sign one message');
  wallet.chainId = '0x89';
  await click(page, 'Manage keys only');
  await heading(page, 'Your wallet');
  expect(wallet.shown).toEqual([expect.stringContaining('\nChain ID: 137\n')]);
});

const announce = (page: Page, detail: string) =>
  page.evaluate(`dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: ${detail} }))`);
const provider = 'provider: { request: async () => [] }';

test('a wallet that appears late is noticed, and two are shown side by side', async () => {
  await using watched = await session.openPage();
  const { page } = watched;
  await page.goto(`${session.url}/cli`);
  await page.getByText('This browser shows no wallet.').waitFor();
  await announce(page, `{ info: { uuid: '1', name: 'Late' }, ${provider} }`);
  await announce(page, `{ info: { uuid: '2', name: 'Later' }, ${provider} }`);
  await announce(page, `{ info: { uuid: '2', name: 'Later' }, ${provider} }`);
  expect(await page.locator('#wallets button').allTextContents()).toEqual(['Late', 'Later']);
  expect(await page.getByText('This browser shows no wallet.').isVisible()).toBe(false);
  await click(page, 'Later');
  await page.getByRole('alert').getByText('Later showed no account. Is it unlocked?').waitFor();
});

test('nothing that a wallet announces can run, load or break the page', async () => {
  await using watched = await session.openPage();
  const { page, complaints, origins } = watched;
  await page.setViewportSize({ width: 375, height: 700 });
  await page.goto(`${session.url}/cli`);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>parent.document.title = 'Evil'</script><image href="https://evil.example/svg.png"/></svg>`;
  const names = [
    '<img src="x" onerror="document.title = 1">',
    'L'.repeat(400),
    'From elsewhere',
    'A picture that runs',
  ];
  for (const nothing of [
    'null',
    '7',
    '{}',
    `{ info: {}, ${provider} }`,
    `{ info: { uuid: '0', name: 'No provider' } }`,
  ]) {
    await announce(page, nothing);
  }
  await announce(page, `{ info: { uuid: '1', name: ${JSON.stringify(names[0])}, icon: {} }, ${provider} }`);
  await announce(page, `{ info: { uuid: '2', name: '${names[1]}' }, ${provider} }`);
  await announce(page, `{ info: { uuid: '3', name: '${names[2]}', icon: 'https://evil.example/i.png' }, ${provider} }`);
  const icon = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await announce(page, `{ info: { uuid: '4', name: '${names[3]}', icon: ${JSON.stringify(icon)} }, ${provider} }`);

  expect(await page.locator('#wallets button').allTextContents()).toEqual(names);
  await page.locator('#wallets img').evaluateAll((images) =>
    Promise.all(
      images.map((image) =>
        Reflect.get(image, 'decode')
          .call(image)
          .catch(() => {}),
      ),
    ),
  );
  expect(await page.title()).toBe('Get your API key · svc');
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375);
  expect([...origins]).toEqual([session.url]);
  expect(complaints).toEqual([]);
});
