import { expect, test } from '@jest/globals';
import { listen } from '../../../lambda/engines/listen.ts';
import { inTime } from '../../support/wait-until.ts';
import { openRaw } from './raw-client.ts';

test('shutdown waits for responses, but not for idle connections', async () => {
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const server = await listen({
    ...{ host: '127.0.0.1', port: 0, onError: () => {}, limits: { keepAliveTimeout: 600_000 } },
    async serve(_request, response) {
      asked.resolve();
      await held.promise;
      response.end('done');
    },
  });
  const client = await openRaw(server.url);
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await asked.promise;
  const drained = server.drain();
  held.resolve();
  expect(await client.rest()).toMatch(/done/);
  await inTime(drained, 'no connection is left');
});
