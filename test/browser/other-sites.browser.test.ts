import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type GatewayProcess, startGatewayProcess } from '../local/gateway-process.ts';
import { startChromium } from './chromium.ts';
import { openPage } from './open-page.ts';

jest.setTimeout(60_000);

let browser: Browser;
let gateway: GatewayProcess;

beforeAll(async () => {
  [browser, gateway] = await Promise.all([startChromium(), startGatewayProcess()]);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
});

test("another site's page can neither frame this one nor ask for anything", async () => {
  const frame = `<iframe src="${gateway.url}/cli"></iframe>`;
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>Evil</title>${frame}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await using watched = await openPage(browser);
    const { page } = watched;
    const refused = page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    expect((await refused).type()).toBe('error');
    const reached = await page.evaluate(async (url) => {
      const body = JSON.stringify({ address: `0x${'11'.repeat(20)}` });
      const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
      return fetch(`${url}/cli/challenge`, json).then(
        () => true,
        () => false,
      );
    }, gateway.url);
    expect(reached).toBe(false);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
