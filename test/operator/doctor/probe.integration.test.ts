import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { createProbe, list } from '../../../operator/doctor/probe.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function startServer(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return `127.0.0.1:${port}`;
}

const ask = (base: string, patience = 60_000) => createProbe(base, () => performance.now(), patience)(list());

test.each<[string, RequestListener]>([
  ['never answers', () => {}],
  ['stops in the middle of an answer', (_request, response) => response.write('{')],
])('a server that %s is given up, and that is said', async (_name, answer) => {
  const server = await startServer(answer);
  await expect(ask(`http://${server}`, 100)).rejects.toMatchObject({
    name: 'CommandError',
    message: 'GET /v1/models failed: no answer within 0.1 s',
  });
});

test('only the reason is shown of an error by OpenSSL', async () => {
  const server = await startServer((_request, response) => response.end());
  await expect(ask(`https://${server}`)).rejects.toMatchObject({
    name: 'CommandError',
    message: 'GET /v1/models failed: TLS: wrong version number',
  });
});
