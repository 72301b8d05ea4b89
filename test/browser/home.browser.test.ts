import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectLegible, startSession } from './session.ts';

const session = startSession();

const looks = [
  { width: 320, colorScheme: 'dark' as const },
  { width: 1280, colorScheme: 'light' as const },
];
const pages = ['/', '/docs'];

/** The cumulative layout shift: https://web.dev/articles/cls */
const shiftOf = (page: Page) =>
  page.evaluate<number>(`new Promise((resolve) => {
    let shift = 0;
    new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) shift += value;
    }).observe({ type: 'layout-shift', buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(shift)));
  })`);

describe.each(pages)('%s', (path) => {
  test.each(looks)('is legible and stable, and does not scroll sideways: %j', async ({ width, colorScheme }) => {
    const viewport = { width, height: 640 };
    const { page, complaints, origins } = await session.openPage(path, { colorScheme, viewport });
    await page.getByRole('button', { name: /^Copy/ }).first().waitFor();
    await expectLegible(page);
    expect(await shiftOf(page)).toBe(0);
    expect([...origins]).toEqual([session.url]);
    expect(complaints).toEqual([]);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
  });

  test('reads the same without JavaScript, and is as high: its buttons have their room before they come', async () => {
    const shown: { text: string; height: number | undefined }[] = [];
    for (const javaScriptEnabled of [true, false]) {
      const { page } = await session.openPage(path, { javaScriptEnabled });
      if (javaScriptEnabled) await page.getByRole('button', { name: /^Copy/ }).first().waitFor();
      const main = page.locator('main');
      const height = (await main.boundingBox())?.height;
      await page.locator('.copy').evaluateAll((buttons) => buttons.map((button) => button.remove()));
      shown.push({ text: await main.innerText(), height });
    }
    expect(shown[0]).toEqual(shown[1]);
    expect(shown[0]).toEqual({ text: expect.stringContaining('/v1/chat/completions'), height: expect.any(Number) });
  });
});

test('the first request is copied as shown, and works when pasted into a shell', async () => {
  const { page } = await session.openPage('/');
  await page.getByRole('button', { name: 'Copy Terminal' }).click();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(copied).toBe(await page.locator('pre').innerText());
  const { stdout } = await promisify(execFile)('sh', ['-c', copied]);
  expect(JSON.parse(stdout)).toMatchObject({ object: 'chat.completion', model: 'svc' });
});

test('the first page leads to the API and to a key, and back', async () => {
  const { page } = await session.openPage('/');
  await page.getByRole('link', { name: 'Read the API' }).click();
  await page.getByRole('heading', { level: 1, name: 'API' }).waitFor();
  await page.getByRole('link', { name: 'svc' }).first().click();
  await page.getByRole('link', { name: '/v1/messages', exact: true }).click();
  await page.getByRole('heading', { name: 'Messages dialect' }).waitFor();
  expect(new URL(page.url()).hash).toBe('#createMessage');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Get a key' }).click();
  await page.getByRole('heading', { level: 1, name: 'Get your API key' }).waitFor();
  const currentOf = () => page.getByRole('navigation').locator('[aria-current]').allTextContents();
  expect(await currentOf()).toEqual(['Get a key']);
  await page.getByRole('banner').getByRole('link', { name: 'svc' }).click();
  await page.getByRole('heading', { level: 1, name: 'Private inference at one address' }).waitFor();
});
