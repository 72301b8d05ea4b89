import { expect, test } from '@jest/globals';
import { loadSubject } from './bundle.ts';
import type { Plan } from './plan.ts';
import { violationIn } from './run.ts';

// Worlds in which an invariant was broken once, as small as they were found. Each names only what differs from a dull world.

const holds = async (plan: Partial<Plan>): Promise<void> =>
  expect(await violationIn(await loadSubject(), plan)).toBeUndefined();

test('a stream that breaks off right behind a long event is refunded, if its client reads at once', () =>
  holds({
    requests: [{ stream: true, turns: [{ words: 1, wordSize: 70_000, says: 'no end', pieces: 'joined' }] }],
  }));

test('a refund behind midnight leaves the figures of the new day', () =>
  holds({
    seed: 105_033_116,
    untilMidnight: 10,
    requests: [{ stream: true, turns: [{ says: 'no end', pieces: 'bytes', framing: 'gzip' }] }, {}],
    store: 'sqlite',
  }));

test('vectors that nobody reads end with the time of their request, though all of them have come', () =>
  holds({
    settings: { REQUEST_TIMEOUT: '20' },
    requests: [{ asks: 'for vectors', pausesAt: 1, pauses: 29_000, turns: [{ words: 5, wordSize: 27_766 }] }],
    storeLatency: 7,
  }));

test('vectors that nobody reads are settled when the process stops', () =>
  holds({
    callers: [{ kind: 'budget' }],
    requests: [
      { asks: 'for vectors', pausesAt: 1, pauses: 722, turns: [{ words: 16, wordSize: 34_911, reasons: true }] },
    ],
    ...{ store: 'sqlite', storeLatency: 6, stopsAt: 3 },
  }));
