import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startChromium } from './chromium.ts';

jest.setTimeout(60_000);
const folder = new URL('../../docs/images/', import.meta.url);
const pictures = readdirSync(folder).flatMap((name) =>
  name.endsWith('.picture') ? [name.replace('picture', 'svg')] : [],
);

let browser: Browser;
beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser.close());

test.each(pictures)('every text of %s fits its box', async (name) => {
  const page = await browser.newPage();
  await page.goto(new URL(name, folder).href);
  const wide = await page.evaluate(`[...document.querySelectorAll('g')].flatMap((group) => {
    const box = group.querySelector('rect').getBBox();
    return [...group.querySelectorAll('text')]
      .filter((text) => text.getBBox().x < box.x + 4 || text.getBBox().x + text.getBBox().width > box.x + box.width - 4)
      .map((text) => text.textContent);
  })`);
  expect(wide).toEqual([]);
  await page.close();
});
