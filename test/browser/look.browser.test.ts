import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startGatewayProcess } from '../local/gateway-process.ts';
import { testAccount } from '../support/accounts.ts';
import { inTime } from '../support/wait-until.ts';
import {
  alert,
  click,
  expectLegible,
  expectUncut,
  headed,
  heading,
  looks,
  nothingKept,
  startSession,
} from './session.ts';
import { installWallet } from './test-wallet.ts';

const session = startSession();

/** The cumulative layout shift: https://web.dev/articles/cls */
const shiftOf = (page: Page) =>
  page.evaluate<number>(`new Promise((resolve) => {
    let shift = 0;
    new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) shift += value;
    }).observe({ type: 'layout-shift', buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(shift)));
  })`);

test.each(looks.flatMap((look) => ['/', '/docs'].map((path) => [path, look] as const)))(
  '%s is legible and stable, and does not scroll sideways: %j',
  async (path, look) => {
    const { page, complaints, origins } = await session.openPage(path, look);
    await page.getByRole('button', { name: /^Copy/ }).first().waitFor();
    await expectLegible(page);
    expect(await shiftOf(page)).toBe(0);
    expect([...origins]).toEqual([session.url]);
    expect(complaints).toEqual([]);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
  },
);

test.each(looks)('/docs marks the section that is read: %j', async (look) => {
  const { page } = await session.openPage('/docs', look);
  const contents = page.getByRole('navigation', { name: 'On this page' });
  expect(await contents.locator('[aria-current=true]').allTextContents()).toEqual(['First request']);
  for (const title of ['Chat completions', 'Errors', 'Read your usage']) {
    await contents.getByRole('link', { name: title, exact: true }).click();
    await contents.locator('[aria-current=true]').getByText(title, { exact: true }).waitFor();
    expect(await contents.locator('[aria-current]').count()).toBe(1);
  }
});

test.each(looks)('all that /docs opens is legible: %j', async (look) => {
  const { page } = await session.openPage('/docs', look);
  expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(8_000);
  await page.evaluate('for (const part of document.querySelectorAll("details")) part.open = true');
  await expectLegible(page);
});

test.each([true, false])(
  'an address within /docs opens its part, with JavaScript or without: %s',
  async (withScripts) => {
    const { page } = await session.openPage('/docs', { ...looks[0], javaScriptEnabled: withScripts });
    const comesInSight = async (name: string) => {
      for (let y = -1; y < 0 || y > looks[0].viewport.height; )
        ({ y } = (await headed(page, name).boundingBox()) ?? { y });
    };
    const isInSight = (name: string) => inTime(comesInSight(name), `${name} is in sight`);
    await page
      .getByRole('navigation', { name: 'On this page' })
      .getByRole('link', { name: 'Responses', exact: true })
      .click();
    await isInSight('Responses');
    await page.getByRole('link', { name: 'upstream_timeout' }).filter({ visible: true }).last().click();
    await page.locator('#upstream_timeout').getByText('504', { exact: true }).waitFor();
    await page.goto(`${session.url}/docs#ChatCompletion`);
    await isInSight('ChatCompletion');
    await page.locator('#ChatCompletion').getByText('choices', { exact: true }).waitFor();
  },
);

test('on a phone, code keeps its lines and is scrolled by a finger or a keyboard', async () => {
  for (const path of ['/', '/cli', '/docs']) {
    const { page } = await session.openPage(path, looks[0]);
    await page.getByRole('button', { name: /^Copy/ }).first().waitFor();
    const code = page.locator('pre:visible').first();
    const lines = ((await code.textContent()) ?? '').split('\n').length;
    const [height, needed, seen] = await code.evaluate(
      ({ clientHeight, scrollWidth, clientWidth }) => [clientHeight, scrollWidth, clientWidth] as const,
    );
    expect([path, needed > seen, Math.round(height / 20) <= lines + 2]).toEqual([path, true, true]);
    await code.focus();
    await page.keyboard.press('ArrowRight');
    await inTime(
      code.evaluate(
        (block) =>
          new Promise<void>((resolve) =>
            block.scrollLeft > 0 ? resolve() : block.addEventListener('scroll', () => resolve()),
          ),
      ),
      'the code is scrolled',
    );
  }
});

test.each([true, false])(
  'one switch chooses the language of all examples, with JavaScript or without: %s',
  async (withScripts) => {
    const { page } = await session.openPage('/docs', { ...looks[1], javaScriptEnabled: withScripts });
    const seen = async () => [...new Set(await page.locator('main .in:visible p').allTextContents())];
    expect(await seen()).toEqual(['curl']);
    await page.getByRole('radio', { name: 'Python' }).check();
    expect(await seen()).toEqual(['Python']);
    if (!withScripts) return;
    // The choice is kept for the visit, and in no storage.
    await page.getByRole('link', { name: 'Messages', exact: true }).first().click();
    await page.reload();
    expect(await seen()).toEqual(['Python']);
    await page.getByRole('link', { name: 'svc' }).first().click();
    await page.goBack();
    await page.getByRole('radio', { name: 'Python', checked: true }).waitFor();
    expect(await page.evaluate(nothingKept)).toEqual([0, 0, '']);
  },
);

test('every part of /docs opens at once, for a search of the page', async () => {
  const { page } = await session.openPage('/docs');
  expect(await page.locator('details[open]').count()).toBe(0);
  await click(page, 'Open every part, to search the page');
  expect(await page.locator('details:not([open])').count()).toBe(0);
  await page.getByRole('status').getByText('Every part is open.').waitFor();
});

test.each(looks)('links to endpoints are easy to hit: %j', async (look) => {
  const { page } = await session.openPage('/docs', look);
  const heights = await page
    .locator('.routes a, .contents a')
    .evaluateAll((links) => links.map((link) => link.getBoundingClientRect().height));
  expect(heights.length).toBeGreaterThan(20);
  expect(Math.min(...heights)).toBeGreaterThanOrEqual(24);
});

test.each(looks)('a path where there is no page says where to go: %j', async (look) => {
  const { page, origins } = await session.openPage('/v1', look);
  await heading(page, 'There is no page here');
  await expectLegible(page);
  expect([...origins]).toEqual([session.url]);
  await page.getByRole('link', { name: 'Read the API' }).click();
  await heading(page, 'First request');
});

test.each(looks)('where only the operator gives out keys, /cli has the clients’ blocks: %j', async (look) => {
  await using gateway = await startGatewayProcess({ ACCESS: 'keys' });
  const { page, complaints } = await session.openPage('/', look);
  for (const path of ['/docs', '/']) {
    await page.goto(gateway.url + path);
    await page.getByRole('button', { name: /^Copy/ }).first().waitFor();
    await expectLegible(page);
  }
  await page.getByRole('link', { name: 'Set up a client' }).first().click();
  await page.getByText('The operator of this gateway gives out keys').waitFor();
  await page.getByText('Put your key in place of YOUR_KEY.').waitFor();
  await page.getByRole('combobox', { name: 'Client' }).selectOption('Codex');
  await page.getByText('export GATEWAY_KEY=YOUR_KEY').waitFor();
  await expectLegible(page);
  expect(await page.getByRole('button').allTextContents()).toEqual(['Copy ~/.codex/config.toml', 'Copy Terminal']);
  expect(complaints).toEqual([]);
});

test('the first request is copied as shown, and works when pasted into a shell', async () => {
  const { page } = await session.openPage('/');
  await page.getByRole('button', { name: 'Copy Terminal' }).click();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(copied).toBe(await page.locator('pre').innerText());
  const { stdout } = await promisify(execFile)('sh', ['-c', copied]);
  expect(JSON.parse(stdout)).toMatchObject({ object: 'chat.completion', model: 'svc' });
});

test.each(looks)('/cli is so in every state: %j', async (look) => {
  const { page, complaints } = await session.openPage('/cli', look);
  await page.getByText('This browser shows no wallet.').waitFor();
  await page.getByText('npm run keys -- issue').waitFor();
  await page.getByText('any word in place of a key gives you 3 requests to try').waitFor();
  await expectLegible(page);

  const wallet = await installWallet(page, testAccount(look.viewport.width));
  await page.reload();
  await click(page, 'Test Wallet');
  await heading(page, 'Sign one message');
  await expectLegible(page);
  wallet.answer = 'no';
  await click(page, /^Sign in$/);
  await alert(page, 'You declined');
  await expectLegible(page);

  const paused = Promise.withResolvers<void>();
  Object.assign(wallet, { answer: 'yes', pause: paused.promise });
  await click(page, /^Sign in$/);
  await page.getByRole('status').getByText('Look at Test Wallet').waitFor();
  await expectLegible(page);
  // Screen readers skip what is marked as busy.
  expect(await page.locator('[aria-busy=true]').count()).toBe(0);
  paused.resolve();

  await heading(page, 'Your account');
  await expectLegible(page);
  await click(page, 'New key');
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
  expect(y).toBeLessThan(look.viewport.height);
  answered.resolve();
  await page.getByText('Revoked. Within a minute').waitFor();
  await expectLegible(page);
  expect(complaints).toEqual([]);
});
