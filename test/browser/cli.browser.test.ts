import { describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { PRICES } from '../support/prices.ts';
import {
  alert,
  click,
  expectLegibleInAllLooks,
  getKey,
  headed,
  heading,
  nothingKept,
  signIn,
  startSession,
} from './session.ts';

// Without the cache a revocation takes effect at once, not within half a minute.
const session = startSession({ IDENTITY_CACHE_SECONDS: '0', PRICES, MEMBER_BUDGET: '20' });

const ask = async (key: string, path = '/v1/models', body?: object) => {
  const post = body && { method: 'POST', body: JSON.stringify(body) };
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const response = await fetch(session.url + path, { ...post, headers });
  await response.text();
  return { status: response.status, limit: response.headers.get('x-svc-limit') };
};
const chat = (key: string) =>
  ask(key, '/v1/chat/completions', { model: 'svc', messages: [{ role: 'user', content: 'Hi' }] });

test('a person gets a key, uses it and revokes it', async () => {
  for (const status of [200, 200, 200, 429]) expect((await chat('guest')).status).toBe(status);
  expect(await ask('guest')).toEqual({ status: 200, limit: '3' });

  const { page, complaints, requests, origins, wallet } = await session.openCli(1);
  const key = await getKey(page);
  expect(key).toMatch(/^ltk_[\w-]{43}$/);
  expect(wallet.shown).toEqual([expect.stringContaining(`${new URL(session.url).host} wants you to sign in`)]);
  await click(page, 'Copy the key');
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);

  const budget = page.locator('#budget');
  expect(await budget.textContent()).toMatch(/^20\.00 of 20\.00 USD are left to spend this month, which ends in \d+ /);

  const client = new OpenAI({ baseURL: `${session.url}/v1`, apiKey: key, maxRetries: 0 });
  const { model } = await client.chat.completions.create({ model: 'svc', messages: [{ role: 'user', content: 'Hi' }] });
  expect(model).toBe('svc');
  // Nobody else has anything of it, until the network is linked: then any word counts as the member.
  expect((await chat('guest')).status).toBe(429);
  await click(page, 'Lend my requests to everyone on it for 24 hours');
  await page.getByText('127.0.0.1 is linked until ').waitFor();
  expect(await ask('guest')).toEqual({ status: 200, limit: '50' });
  expect((await chat('guest')).status).toBe(200);
  await click(page, 'Refresh the requests left today');
  await page.getByText('48 of 50', { exact: true }).waitFor();
  expect(await budget.textContent()).toMatch(/^19\.99\d* of 20\.00 USD are left/);
  expect(await budget.isVisible()).toBe(true);
  const models = page.locator('#by-model li');
  expect(await models.allTextContents()).toEqual([
    expect.stringMatching(/^\S+: \d+ tokens in and \d+ out for 0\.00\d+ USD$/),
  ]);
  await expectLegibleInAllLooks(page);

  await click(page, /^Revoke key_/);
  await click(page, /^Yes, revoke key_/);
  await page.getByText('Revoked. Within a minute').waitFor();
  expect(await page.locator('#key-text').isVisible()).toBe(false);
  expect(await ask(key)).toMatchObject({ status: 401 });
  await expect(client.models.list()).rejects.toThrow(/401/);

  expect(complaints).toEqual([]);
  expect([...origins]).toEqual([session.url]);
  // Neither key nor session is in an address, sent to others or kept in the browser.
  for (const request of requests) {
    expect(request.url()).not.toMatch(/lt[ks]_|\?/);
    expect(await request.allHeaders()).not.toHaveProperty('referer');
  }
  expect(await page.evaluate('[location.href, history.length]')).toEqual([`${session.url}/cli`, 2]);
  expect(await page.evaluate(nothingKept)).toEqual([0, 0, '']);
  expect(await page.context().cookies()).toEqual([]);
});

test('the clients’ blocks can be read before anyone signs, and keep the choice and the label when there is a key', async () => {
  const { page, complaints } = await session.openCli(7);
  const blocks = page.getByRole('region', { name: 'Set up a client' });
  await blocks.getByRole('combobox', { name: 'Client' }).selectOption('Codex');
  await blocks.getByText('export GATEWAY_KEY=YOUR_KEY').waitFor();
  await blocks.getByText('A new key is filled in here.').waitFor();
  await signIn(page);
  const label = page.getByRole('textbox', { name: 'Label of the key' });
  await label.fill('laptop');
  await label.press('Enter');
  await heading(page, 'Your key');
  await blocks.getByText(`export GATEWAY_KEY=${await page.locator('#key-text').textContent()}`).waitFor();
  await blocks.getByText('Your key is filled in.').waitFor();
  const keys = page.getByRole('list', { name: 'Your keys' }).getByRole('listitem');
  expect(await keys.locator('.key-name').allTextContents()).toEqual([expect.stringMatching(/^laptopkey_.*new$/)]);
  await label.fill('phone');
  await click(page, 'New key');
  await keys.filter({ hasText: 'phone' }).getByText('new', { exact: true }).waitFor();
  expect([await keys.count(), await label.inputValue()]).toEqual([2, '']);
  await keys.filter({ hasText: 'phone' }).getByRole('button').click();
  await click(page, /^Yes, revoke key_/);
  await blocks.getByText('export GATEWAY_KEY=YOUR_KEY').waitFor();
  expect(complaints).toEqual([]);
});

test('one signature can also link the network and bring a key, where the button says whose requests are lent', async () => {
  const { page, wallet } = await session.openCli(8);
  await click(page, 'Test Wallet');
  expect(await page.getByRole('region', { name: 'Sign one message' }).locator('.primary').allTextContents()).toEqual([
    'Sign in',
  ]);
  await click(page, 'Sign in, and lend my requests to everyone on 127.0.0.1');
  await heading(page, 'Your key');
  expect(wallet.shown).toEqual([expect.stringContaining('Link the network I am on to this wallet for 24 hours')]);
  await page.getByText('127.0.0.1 is linked until ').waitFor();
});

test('whoever is signed in sees their account first, with one thing to do, and can sign out', async () => {
  const { page } = await session.openCli(9);
  await signIn(page);
  const shown = (selector: string) => page.locator(selector).filter({ visible: true }).allTextContents();
  expect(await shown('h1, h2')).toEqual([
    'Your account',
    'Your keys',
    'Set up a client',
    'Requests left today',
    'Your network',
  ]);
  expect(await shown('.steps, .primary')).toEqual(['New key']);
  await click(page, 'New key');
  await heading(page, 'Your key');
  expect((await shown('h1, h2')).slice(0, 3)).toEqual(['Your account', 'Your key', 'Your keys']);
  expect(await shown('.primary')).toEqual(['Copy the key']);
  await click(page, 'Sign out');
  await heading(page, 'Connect your wallet');
  expect(await headed(page, 'Your account').isVisible()).toBe(false);
  expect(await page.content()).not.toMatch(/lt[ks]_/);
});

test('the keyboard is enough, and every step is announced', async () => {
  const { page } = await session.openCli(3);
  await page.getByRole('button', { name: 'Test Wallet' }).waitFor();
  const focused = () => page.evaluate('document.activeElement.textContent.trim()');
  const press = async (...keys: string[]) => {
    for (const name of keys) await page.keyboard.press(name);
  };
  for (const name of ['svc', 'API', 'Get a key', 'Test Wallet']) {
    await press('Tab');
    expect(await focused()).toBe(name);
  }
  await press('Enter');
  await page.getByRole('heading', { name: 'Sign one message' }).waitFor();
  expect(await focused()).toBe('Sign one message');
  await press('Tab', 'Tab');
  expect(await focused()).toBe('Sign in');
  await press('Enter');
  await heading(page, 'Your account');
  expect(await focused()).toBe('Your account');
  await press('Tab', 'Tab', 'Tab');
  expect(await focused()).toBe('New key');
  await press('Enter');
  await heading(page, 'Your key');
  expect(await focused()).toBe('Your key');
  await page.getByRole('combobox', { name: 'Client' }).focus();
  await press('ArrowDown', 'ArrowDown');
  expect(await page.getByRole('combobox', { name: 'Client' }).inputValue()).toBe('anthropic');
  expect(await page.locator('#snippets').getByRole('heading').allTextContents()).toEqual([
    'JavaScript',
    'Python',
    'Environment',
  ]);
  await press('Tab');
  expect(await focused()).toBe('Copy JavaScript');
  await page.getByRole('button', { name: /^Revoke/ }).focus();
  await press('Enter');
  expect(await focused()).toBe('Keep');
  await press('Enter');
  expect(await focused()).toMatch(/^Revoke key_/);
  await press('Enter', 'Shift+Tab', 'Enter');
  await page.getByText('Revoked. Within a minute').waitFor();
  expect(await focused()).toBe('Your keys');
});

describe('on other paths', () => {
  test('without a wallet the page says what to do, and notices one that appears later', async () => {
    const { page } = await session.openPage('/cli');
    await page.getByText('This browser shows no wallet.').waitFor();
    await page.evaluate('window.ethereum = { request: async () => { throw { code: -32002 } } }');
    await click(page, 'Look again');
    await click(page, 'Browser wallet');
    await alert(page, 'Browser wallet is asking you already');
    await expectLegibleInAllLooks(page);
  });

  test('a wallet that only sets window.ethereum works too', async () => {
    const { page } = await session.openCli(4, false);
    await signIn(page, 'Browser wallet');
    await page.getByText('You have none yet.').waitFor();
  });

  test('a wallet with five keys is told, and can make room', async () => {
    const { page } = await session.openCli(6);
    await signIn(page);
    for (let count = 1; count <= 5; count += 1) {
      await click(page, 'New key');
      await page
        .getByRole('button', { name: /^Revoke/ })
        .nth(count - 1)
        .waitFor();
    }
    expect(await page.getByRole('button', { name: 'New key' }).isDisabled()).toBe(true);
    await page.reload();
    await click(page, 'Test Wallet');
    await click(page, /^Sign in, and lend my requests/);
    await alert(page, 'has 5 keys already');
    await expectLegibleInAllLooks(page);
    await page
      .getByRole('button', { name: /^Revoke/ })
      .first()
      .click();
    await click(page, /^Yes, revoke/);
    await click(page, 'New key');
    await heading(page, 'Your key');
  });
});
