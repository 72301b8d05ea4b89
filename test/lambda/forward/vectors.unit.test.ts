import { once } from 'node:events';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { embeddings } from '../../../lambda/dialects/embeddings/embeddings.ts';
import { fetchVectors } from '../../../lambda/forward/vectors.ts';
import type { RequestSoFar } from '../../../lambda/request/request.ts';
import { formatOf, hiding } from '../../support/rewrite.ts';
import { testRows } from '../../support/test-rows.ts';

type Given = Parameters<typeof fetchVectors>;
type Outcome = RequestSoFar['outcome'];

const price = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };

/** Begins to stream an embeddings answer. `settle` settles its charge. */
async function begin(settle?: () => Promise<void>) {
  const leaving = new AbortController();
  const finished = Promise.withResolvers<Outcome>();
  const upstream = new Readable({ read() {} });
  upstream.push('{"data":[{"embedding":[1,');
  const clock = { time: 0 };
  const parsed = { ...formatOf(embeddings), model: { id: 'svc' } };
  const record = { tries: 1, usage: {} };
  const attempt: object = {
    request: {
      ...{ deadline: 60_000, clientGone: leaving.signal, parsed, outcome: { attempt: record } },
      ...(settle && { charge: { settle, snapshotAfter: () => {} } }),
    },
    ...{ record, hiding, ask: async () => ({ body: upstream }) },
  };
  const dependencies: object = {
    now: () => clock.time,
    prices: new Map([['svc', price]]),
    log: { finished: ({ outcome }: { outcome: Outcome }) => finished.resolve(outcome) },
  };
  const { statusCode, body } = await fetchVectors(attempt as Given[0], dependencies as Given[1]);
  expect(statusCode).toBe(200);
  return { leaving, upstream, clock, body: body as Readable, finished: finished.promise };
}

test('a client that disconnects before its answer begins releases the upstream, and is logged', async () => {
  const { leaving, upstream, finished } = await begin();
  leaving.abort();
  expect(await finished).toMatchObject({ end: 'client_gone' });
  expect(upstream.destroyed).toBe(true);
});

test('the end of an answer does not wait for its settlement', async () => {
  const store = Promise.withResolvers<void>();
  const { upstream, body, finished } = await begin(() => store.promise);
  upstream.push('2]}]}');
  upstream.push(null);
  let text = '';
  await once(
    body.on('data', (piece) => (text += piece)),
    'end',
  );
  expect(JSON.parse(text)).toEqual({ data: [{ embedding: [1, 2] }] });
  store.resolve();
  expect(await finished).toMatchObject({ spending: { cost: expect.any(Number) } });
});

test('one read of the upstream leaves in one write, however many chunks it has', async () => {
  const { upstream, body } = await begin();
  await new Promise(setImmediate);
  const pieces: string[] = [];
  body.on('data', (piece) => pieces.push(String(piece)));
  for (const byte of '2,3,4') upstream.push(byte);
  await new Promise(setImmediate);
  expect(pieces).toEqual(['{"data":[{"embedding":[1,', '2,3,4']);
});

test('an answer whose last bytes are invalid ends once, with nothing after the error', async () => {
  const { upstream, body, finished } = await begin();
  const text = body.setEncoding('utf8').toArray();
  upstream.push('"a"]}]}');
  upstream.push(null);
  expect((await text).join('')).toMatch(/^\{"data":\[\{"embedding":\[1,\n\{"error":.*\}$/);
  expect((await finished).error).toMatchObject({ reason: 'cut' });
});

testRows([
  [[100], false],
  [[101], true],
  [[60, 60], false],
])(
  'an answer that breaks off after its client held it back stays charged only if that took long at a stretch',
  async (stretches, charged) => {
    const { upstream, clock, body, finished } = await begin();
    for (const time of stretches) {
      upstream.push('1,'.repeat(40_000));
      await new Promise(setImmediate);
      upstream.push('1,');
      await new Promise(setImmediate);
      expect(upstream.readableLength).toBe(2);
      clock.time += time;
      body.read();
    }
    upstream.destroy(new Error('cut'));
    expect((await finished).error).toMatchObject({ reason: 'cut', refund: !charged });
  },
);

test('an answer that breaks off under back-pressure is settled at once', async () => {
  const { upstream, finished } = await begin();
  upstream.push('1,'.repeat(40_000));
  await new Promise(setImmediate);
  upstream.destroy(new Error('cut'));
  expect((await finished).error).toMatchObject({ reason: 'cut' });
});

test('before the client reads, the upstream is buffered up to a limit', async () => {
  const { upstream } = await begin();
  for (const piece of ['2,', '3,']) {
    upstream.push(piece);
    await new Promise(setImmediate);
    expect(upstream.readableLength).toBe(0);
  }
});
