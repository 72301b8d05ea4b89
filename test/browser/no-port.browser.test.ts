import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { listenLocally } from '../../local/listen-locally.ts';
import { type GatewayProcess, startGatewayProcess } from '../local/gateway-process.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { listeningPorts } from '../support/listening-ports.ts';
import { startBrowser } from './session.ts';

const { openPage } = startBrowser();
const parts = new AsyncDisposableStack();
let gateway: GatewayProcess;
let foreignPage = '';
beforeAll(async () => {
  const upstream = parts.use(await startFakeUpstream());
  const ofUpstream = { UPSTREAM_BASE_URL: upstream.url, UPSTREAM_TEXT_MODEL: 'words', UPSTREAM_VISION_MODEL: 'eyes' };
  gateway = parts.use(await startGatewayProcess({ ACCESS: 'keys', UPSTREAM_API_KEYS: 'upstream-key', ...ofUpstream }));
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'));
  const { url, close } = await listenLocally(server);
  parts.defer(close);
  foreignPage = url;
});
afterAll(() => parts.disposeAsync());

/** What a page does that takes a port for that of a DynamoDB emulator. Gives the answer, or why there is none. */
const call = (port: number, operation: string) => `
  fetch('http://127.0.0.1:${port}/', {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'DynamoDB_20120810.${operation}' },
    body: '{}',
  }).then((response) => response.status, (error) => 'no answer: ' + error.message)`;

test("a page of somebody else's finds one port of the gateway, at which nobody speaks of tables", async () => {
  const ports = listeningPorts(gateway.pid ?? 0);
  expect(ports).toEqual([gateway.port]);
  const { page } = await openPage();
  await page.goto(foreignPage);
  for (const port of ports) expect(await page.evaluate(call(port, 'ListTables'))).toBe(404);
});
