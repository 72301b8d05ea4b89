import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startGatewayProcess } from '../local/gateway-process.ts';
import { startBrowser } from './session.ts';

// The pictures of the README. `PICTURES=1 npm run test:browser -- pictures` takes them anew, with the text that they show beside
// each. Pixels depend on the fonts of a machine, so what is compared is the text.
const folder = new URL('../../docs/pictures/', import.meta.url);
const browser = startBrowser();

async function expectPicture(name: string, page: Page, text: string): Promise<void> {
  const [picture, words] = [new URL(`${name}.png`, folder), new URL(`${name}.txt`, folder)];
  if (process.env.PICTURES) {
    writeFileSync(picture, await page.screenshot());
    writeFileSync(words, `${text}\n`);
  }
  expect(readFileSync(words, 'utf8').trim()).toBe(text.trim());
  expect(readFileSync(picture).subarray(1, 4).toString()).toBe('PNG');
  expect(readFileSync(picture).length).toBeLessThan(250_000);
}

/** What differs from one start to another. */
const steady = (output: string, port: number) =>
  output
    .replaceAll(`PORT=${port} `, '')
    .replaceAll(String(port), '8787')
    // Only a terminal is shown the key itself.
    .replace(/^KEY=.*$/m, 'KEY=ltk_r4nD0mLyChOsEnWhEnItStArTsThEfIrStTiMe')
    .replace(/key_[\w-]+/g, 'key_4f9Kq2LmZx8B')
    .replace(/^\d\d:\d\d:\d\d/gm, '12:00:00')
    .replace(/ +\d+ ms/g, '  18 ms');

test('a start in a terminal, and the line of a first request', async () => {
  await using gateway = await startGatewayProcess({ LOG_FORMAT: 'text', NO_COLOR: '1' });
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'svc', messages: [{ role: 'user', content: 'Who are you?' }] });
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
  expect(await answer.text()).toContain('a pretend model');
  await gateway.says(/POST \/v1\/chat\/completions/);
  const text = `$ npm start\n${steady(gateway.output(), gateway.port)}`.trim();
  const { page } = await browser.openPage({ viewport: { width: 1160, height: 420 }, deviceScaleFactor: 1.5 });
  await page.setContent(`<body style="margin: 0; background: #10131f; color: #e9ebf5">
    <pre style="margin: 0; padding: 1.5rem; font: 15px/1.6 ui-monospace, 'DejaVu Sans Mono', monospace; white-space: pre-wrap; word-break: break-all"></pre>`);
  await page.locator('pre').evaluate((block, shown) => {
    block.textContent = shown;
  }, text);
  await expectPicture('terminal', page, text);
});

test('the first screen of /docs', async () => {
  await using gateway = await startGatewayProcess({ GATEWAY_URL: 'http://127.0.0.1:8787' });
  const { page } = await browser.openPage({ viewport: { width: 1160, height: 860 }, deviceScaleFactor: 1.5 });
  await page.goto(`${gateway.url}/docs`);
  await page.getByRole('button', { name: /^Copy/ }).first().waitFor();
  await page.evaluate('document.fonts.ready');
  const first = page.locator('header, .contents, main > section:first-child');
  const text = (await first.allInnerTexts()).join('\n\n');
  await expectPicture('docs', page, text);
});
