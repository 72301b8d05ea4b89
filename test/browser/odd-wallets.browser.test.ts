import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { testAccount } from '../support/accounts.ts';
import { alert, click, headed, heading, startSession } from './session.ts';

const session = startSession();

const focused = (page: Page) => page.evaluate('document.activeElement.textContent');

test('a person can stop waiting for a wallet that never answers', async () => {
  const { page, complaints, wallet } = await session.openCli(1);
  const never = new Promise<void>(() => {});
  wallet.pause = never;
  await click(page, 'Test Wallet');
  await click(page, 'Stop waiting');
  await alert(page, 'The page waits for Test Wallet no longer.');
  expect(await focused(page)).toBe('Test Wallet');
  wallet.pause = undefined;
  await click(page, 'Test Wallet');
  await heading(page, 'Sign one message');
  wallet.pause = never;
  await click(page, 'Sign and get a key');
  await click(page, 'Stop waiting');
  await alert(page, 'The page waits for Test Wallet no longer.');
  wallet.pause = undefined;
  await click(page, 'Sign and get a key');
  await heading(page, 'Your key');
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
  await click(page, 'Test Wallet');
  await click(page, 'Manage keys only');
  await heading(page, 'Your wallet');
  expect(wallet.shown).toEqual([expect.stringContaining(second.address)]);
});

test('the page signs on the chain that the wallet is on, and a signature by another account is refused', async () => {
  const { page, wallet } = await session.openCli(4);
  await click(page, 'Test Wallet');
  await heading(page, 'Sign one message');
  Object.assign(wallet, { chainId: '0x89', account: testAccount(5) });
  await click(page, 'Sign and get a key');
  await alert(page, 'Is another account selected in the wallet?');
  expect(await headed(page, 'Your key').isVisible()).toBe(false);
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
});

test('nothing that a wallet announces can run, load or break the page', async () => {
  const viewport = { width: 375, height: 700 };
  const { page, complaints, origins } = await session.openPage('/cli', { viewport });
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
