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
