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
