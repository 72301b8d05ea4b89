import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { expect, jest, test } from '@jest/globals';
import { formatOf, hiding } from '../../support/rewrite.ts';
import { chat } from '../../support/stream-events.ts';

/* A process that is out of descriptors can't read a file. What an upstream sends meanwhile must not keep its connection. */

const outOfDescriptors = () => {
  throw new Error('EMFILE');
};
jest.unstable_mockModule('../../../lambda/upstream/decode.ts', outOfDescriptors);
const { createExchange } = await import('../../../lambda/upstream/http-client.ts');
const { fetchStream } = await import('../../../lambda/forward/stream.ts');

test('an answer that can not be decoded is discarded', async () => {
  // More than the connection takes unread.
  const long = Buffer.alloc(16 * 1_048_576);
  const server = createServer((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(long));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { send } = createExchange({ connectTimeout: 1_000, now: () => 0 });
  const request: object = { url, headers: { 'content-length': '2' }, pieces: ['{}'] };
  const answered = new Promise<void>((resolve) => server.on('request', (_, response) => response.on('close', resolve)));
  const asking = send(request as Parameters<typeof send>[0], new AbortController().signal);
  await expect(asking).rejects.toThrow('EMFILE');
  await answered;
  server.close();
});

test('so is a stream that can not be translated, which is an error of the gateway’s own', async () => {
  const signals: AbortSignal[] = [];
  const exchange: object = {
    request: { call: formatOf(chat), deadline: 60_000, outcome: {} },
    record: { tries: 0, usage: {} },
    hiding,
    ask: async ({ signal }: { readonly signal: AbortSignal }) => {
      signals.push(signal);
      return { body: new Readable({ read() {} }), translated: {} };
    },
  };
  const loadTranslating = async () => outOfDescriptors();
  const dependencies: object = { loadTranslating, now: () => 0, idleTimeout: 60_000, keepAliveInterval: 60_000 };
  const fetching = fetchStream(...([exchange, dependencies] as Parameters<typeof fetchStream>));
  await expect(fetching).rejects.toMatchObject({ code: 'internal_error', cause: { message: 'EMFILE' } });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});
