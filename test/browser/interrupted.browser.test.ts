import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { testAccount } from '../support/accounts.ts';
import {
  alert,
  click,
  expectLegibleInAllLooks,
  expectUncut,
  getKey,
  headed,
  heading,
  looks,
  signIn,
  startSession,
} from './session.ts';

const session = startSession();

const linkText = (page: Page) => page.locator('#link-text').textContent();

async function endSession(page: Page): Promise<void> {
  const error = { code: 'invalid_session', message: 'Please sign in again.' };
  await page.route('**/cli/keys', (route) => route.fulfill({ status: 401, json: { error } }), { times: 1 });
  await click(page, 'Refresh the requests left today');
  await alert(page, 'Please sign in again.');
}

test('nobody is asked to sign before the facts for the snippets have loaded, and loading is retried', async () => {
  const { page } = await session.openCli(1);
  await page.route('**/cli/info', (route) => route.abort(), { times: 2 });
  await page.reload();
  await alert(page, 'The gateway can’t be reached.');
  await click(page, 'Test Wallet');
  await alert(page, 'The gateway can’t be reached.');
  expect(await headed(page, 'Sign one message').isVisible()).toBe(false);
  // A click counts while the page still waits for them.
  const facts = Promise.withResolvers<void>();
  await page.route('**/cli/info', async (route) => {
    await facts.promise;
    await route.continue();
  });
  await click(page, 'Test Wallet');
  facts.resolve();
  await click(page, /^Sign in$/);
  await heading(page, 'Your account');
});

test('a gateway that goes away is reported, and nothing on the page is lost', async () => {
  const { page } = await session.openCli(3);
  const key = await getKey(page);
  await page.route('**/cli/**', (route) => route.abort());
  for (const name of ['Refresh the requests left today', /^Lend my requests/, 'New key']) {
    await click(page, name);
    await alert(page, 'The gateway can’t be reached.');
  }
  await page.unroute('**/cli/**');
  // Half an answer counts as none.
  await page.route('**/cli/keys', (route) => route.fulfill({ status: 200, body: '{"wallet": "0x' }));
  await click(page, 'Refresh the requests left today');
  await alert(page, 'The gateway can’t be reached.');
  expect(await page.locator('#key-text').textContent()).toBe(key);
});

test('after the session ends a person signs again, and still sees the key; the next wallet sees neither it nor the link', async () => {
  const { page, wallet } = await session.openCli(4);
  const key = await getKey(page);
  await endSession(page);
  expect(await page.locator('#key-text').isVisible()).toBe(true);
  await expectLegibleInAllLooks(page);
  await click(page, /^Sign in$/);
  await page.getByText('You are signed in.').waitFor();
  expect(await page.locator('#key-text').isVisible()).toBe(true);
  expect(await page.locator('#key-text').textContent()).toBe(key);

  await endSession(page);
  wallet.account = testAccount(6);
  await click(page, 'Use another');
  await signIn(page);
  await page.getByText('You have none yet.').waitFor();
  expect(await page.locator('#key-text').textContent()).toBe('');
  expect(await page.locator('#snippets').textContent()).toContain('Bearer YOUR_KEY');
  expect(await linkText(page)).toBe('127.0.0.1 is not linked: only your keys use up your requests.');
});

test('a person who comes back sees when the link ends, and renews it in place', async () => {
  const { page } = await session.openCli(7);
  await getKey(page);
  await click(page, /^Lend my requests/);
  await page.getByText('127.0.0.1 is linked until ').waitFor();
  const before = await linkText(page);
  await page.reload();
  await signIn(page);
  expect(await linkText(page)).toBe(before);
  expect(await page.locator('#key-text').textContent()).toBe('');
  await page.getByRole('button', { name: 'Lend them for 24 hours from now' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('Linked.', { exact: true }).waitFor();
  expect(await page.evaluate('document.activeElement.id')).toBe('link-network');
});

test('the page says so if the browser does not let it copy', async () => {
  const { page, complaints } = await session.openCli(8);
  await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
  await page.reload();
  await getKey(page);
  await click(page, 'Copy the key');
  await page.getByText('The browser does not let this page copy.').waitFor();
  await expectLegibleInAllLooks(page);
  expect(complaints).toEqual([]);
});

test('without JavaScript the page says that it needs it, and offers nothing that would not work', async () => {
  for (const path of ['/cli', '/cli/device']) {
    const { page } = await session.openPage(path, { ...looks[0], javaScriptEnabled: false });
    expect(await page.locator('noscript p').isVisible()).toBe(true);
    expect(await page.locator('main > section:not(:has(#own-title))').filter({ visible: true }).count()).toBe(0);
    await expectUncut(page);
  }
});
