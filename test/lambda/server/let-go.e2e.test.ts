import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

interface Printed {
  /** The size of one request, in bytes. */
  readonly size: number;
  readonly prompts: Readonly<Record<string, number>>;
  readonly answers: Readonly<Record<string, Held>>;
}

interface Held {
  readonly statuses: readonly number[];
  /** What sixteen streams hold, and what is left of them once they are over, in bytes. */
  readonly grown: number;
  readonly left: number;
}

const file = join(import.meta.dirname, 'let-go.ts');
const output = execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', file]);
const { size, prompts, answers }: Printed = JSON.parse(String(output));

test.each([
  'while its answer flows: as it came',
  'while its answer flows: compressed',
  'while its answer flows: with several keys, by its opening words',
  'while the last upstream thinks',
])('the text of a request is gone from memory %s', (when) => {
  // Five streams are open; not even one body is there.
  expect(prompts[when]).toBeLessThan(size / 2);
});

test.each(['answers repeat of their requests', 'answers need of the names of tools'])(
  'what %s is held once, counts as memory, and goes with the answers',
  (what) => {
    const held = answers[what];
    expect(new Set(held?.statuses)).toEqual(new Set([200, 503]));
    // One network has a quarter of the memory: what else they hold is as much as without a translation.
    expect(held?.grown).toBeLessThan((24 / 4) * 1_048_576 + 16 * 500_000);
    expect(held?.left).toBeLessThan(size / 2);
    expect(held?.statuses.at(-1)).toBe(200);
  },
);
