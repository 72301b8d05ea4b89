import { expect, test } from '@jest/globals';
import { createProbe, list } from '../../../operator/doctor/probe.ts';
import { type Reply, startFakeService } from '../../support/fake-service.ts';

const ask = (base: string, patience = 60_000) => createProbe(base, () => performance.now(), patience)(list());

test.each<[string, Reply]>([
  ['never answers', () => {}],
  ['stops in the middle of an answer', (response) => response.write('{')],
])('a server that %s is given up, and that is said', async (_name, reply) => {
  await using server = await startFakeService(reply);
  await expect(ask(server.url, 100)).rejects.toMatchObject({
    name: 'CommandError',
    message: 'GET /v1/models failed: no answer within 0.1 s',
  });
});

test('only the reason is shown of an error by OpenSSL', async () => {
  await using server = await startFakeService((response) => response.end());
  await expect(ask(server.url.replace('http', 'https'))).rejects.toMatchObject({
    name: 'CommandError',
    message: 'GET /v1/models failed: TLS: wrong version number',
  });
});
