import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { startSession } from './session.ts';

const session = startSession();

test("another site's page can neither frame this one nor ask for anything", async () => {
  const frame = `<iframe src="${session.url}/cli"></iframe>`;
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>Evil</title>${frame}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await using watched = await session.openPage();
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
    }, session.url);
    expect(reached).toBe(false);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
