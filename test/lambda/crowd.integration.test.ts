import { request as httpRequest } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { hangUp, head, type Script, type Step, silence, until, write } from '../../local/upstream/script.ts';
import { dialectNames } from '../support/fixtures.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { chargesIn } from '../support/quota.ts';
import { createRandom, type Random } from '../support/random.ts';
import { stopTimers } from '../support/stop-timers.ts';
import { waitUntil } from '../support/wait-until.ts';
import { createWatch } from '../support/watch.ts';
import { wire } from '../support/wire.ts';

/** How a stream of the crowd ends. In a `race` the client disconnects while its upstream breaks off. */
const ends = ['complete', 'cut', 'error event', 'client leaves', 'race'] as const;
type End = (typeof ends)[number];

interface Stream {
  readonly end: End;
  readonly dialect: (typeof dialectNames)[number];
  readonly pieces: number;
  /** After how many chunks the client disconnects, if it does. */
  readonly leavesAfter: number;
}

const day = Date.UTC(2026, 10, 21, 12);
const key = 'a placeholder';
const maxFreeSockets = 64;
const pause: Step = () => setImmediate();

function drawStream(random: Random): Stream {
  const pieces = 1 + random.below(10);
  return { end: random.pick(ends), dialect: random.pick(dialectNames), pieces, leavesAfter: random.below(pieces) };
}

function scriptOf({ end, dialect, pieces }: Stream, allBegun: Promise<void>): Script {
  const { events, textEvent, failureEvent } = wire[dialect];
  const [first = '', ...rest] = events;
  const flow = Array.from({ length: pieces }, () => [pause, write(textEvent('x'.repeat(500)))]).flat();
  const last: Record<End, Script> = {
    complete: [write(rest.join(''))],
    cut: [hangUp],
    'error event': [write(failureEvent)],
    'client leaves': [silence],
    race: [hangUp],
  };
  return [head(200, { 'content-type': 'text/event-stream' }), write(first), until(allBegun), ...flow, ...last[end]];
}

/** Opens a stream, and reads it to its end or disconnects. Calls `onBegun` with its first bytes. */
function readStream(gateway: TestGateway, stream: Stream, index: number, onBegun: () => void): Promise<void> {
  const { path, question, textEvent } = wire[stream.dialect];
  const leaves = stream.end === 'client leaves' || stream.end === 'race';
  const enough = stream.leavesAfter * textEvent('x'.repeat(500)).length;
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const outgoing = httpRequest(gateway.url + path, { method: 'POST', headers, agent: false });
    outgoing.on('error', reject);
    outgoing.on('response', (answer) => {
      let size = 0;
      answer.once('data', onBegun);
      answer.on('data', (piece: Buffer) => {
        size += piece.length;
        // Everybody reads the first bytes, so that all streams are open at once.
        if (leaves && size > enough && size > piece.length) outgoing.destroy();
      });
      answer.on('error', () => {});
      answer.on('close', resolve);
    });
    outgoing.end(JSON.stringify({ ...question, stream: true, user: String(index) }));
  });
}

/** Opens this many streams at once, then ends each in its own way. Returns how many may be refunded. */
async function openCrowd(gateway: TestGateway, size: number, random: Random): Promise<Record<End, number>> {
  const streams = Array.from({ length: size }, () => drawStream(random));
  const allBegun = Promise.withResolvers<void>();
  let begun = 0;
  const onBegun = () => {
    begun += 1;
    if (begun === size) allBegun.resolve();
  };
  gateway.upstream.otherwise(({ body }) => {
    const stream = streams[Number(/"user":"(\d+)"/.exec(body.toString())?.[1])];
    return stream ? scriptOf(stream, allBegun.promise) : [];
  });
  const lines = gateway.log.length;
  // In one process, a crowd would mistake its own queue for a slow store, upstream or client.
  using _timers = stopTimers();
  await Promise.all(streams.map((stream, index) => readStream(gateway, stream, index, onBegun)));
  await waitUntil(() => gateway.log.length >= lines + size, 'every stream has its line in the log');
  const counts = { complete: 0, cut: 0, 'error event': 0, 'client leaves': 0, race: 0 };
  for (const { end } of streams) counts[end] += 1;
  return counts;
}

const seed = 1;
test(`150 concurrent streams, broken and aborted at random (seed ${seed}): counters are exact and nothing leaks`, async () => {
  const random = createRandom(seed);
  const watch = createWatch();
  const atFirst = await watch.read();
  {
    // A function gets one request at a time.
    await using gateway = await startTestGateway({
      engine: 'web',
      environment: { GUEST_LIMIT: '100000', BURST_LIMIT: '10000' },
      now: () => day,
    });
    await openCrowd(gateway, 30, random);
    const before = await watch.read();
    const used = await chargesIn(gateway);
    const lines = gateway.log.length;

    const counts = await openCrowd(gateway, 150, random);

    const ended = gateway.log.slice(lines);
    expect(new Set(ended.map(({ requestId }) => requestId)).size).toBe(150);
    const refunded = ended.filter((line) => line.refunded === true).length;
    expect(await chargesIn(gateway)).toBe(used + 150 - refunded);
    // The outcome of races varies, but the counter must agree with the log. The others are certain.
    const broken = counts.cut + counts['error event'];
    expect(refunded).toBeGreaterThanOrEqual(broken);
    expect(refunded).toBeLessThanOrEqual(broken + counts.race);

    // Idle connections to the upstream stay in the pool, both ends of them in this process.
    expect(await watch.growthSince(before, 5, { TCPSocketWrap: 2 * maxFreeSockets })).toEqual([]);
  }
  expect(await watch.growthSince(atFirst, 16)).toEqual([]);
});
