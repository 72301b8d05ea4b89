import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { embeddings } from '../../../lambda/dialects/embeddings.ts';
import { fetchVectors } from '../../../lambda/forward/vectors.ts';
import { formatOf, hiding } from '../../support/rewrite.ts';

type Given = Parameters<typeof fetchVectors>;

test('a client that leaves before its answer is passed on frees the upstream, and is logged', async () => {
  const leaving = new AbortController();
  const finished = Promise.withResolvers<unknown>();
  const upstream = new Readable({ read() {} });
  upstream.push('{"data":[{"embedding":[1,');
  const call = { ...formatOf(embeddings), model: { id: 'svc' } };
  const exchange: object = {
    request: { deadline: 60_000, clientGone: leaving.signal, call, outcome: {} },
    ...{ record: { tries: 1, usage: {} }, hiding, ask: async () => ({ body: upstream }) },
  };
  const dependencies: object = {
    now: () => 0,
    log: { finished: ({ outcome }: { outcome: { end: string } }) => finished.resolve(outcome.end) },
  };
  const response = await fetchVectors(exchange as Given[0], dependencies as Given[1]);
  expect(response.statusCode).toBe(200);
  leaving.abort();
  upstream.destroy(new Error('as an aborted connection does'));
  expect(await finished.promise).toBe('client_gone');
});
