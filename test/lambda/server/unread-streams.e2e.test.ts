import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

/** What a connection and its events on the way may take, in bytes: when a stream is held back is a matter of chance. */
const buffers = 1_048_576;

interface Printed {
  /** What one of sixteen streams holds that are passed on, in bytes. */
  readonly passedOn: number;
  readonly translated: readonly { readonly name: string; readonly held: number; readonly kept: number }[];
}

test('an unread stream that is translated holds what one that is passed on does, and what is counted', () => {
  const file = join(import.meta.dirname, 'unread-streams.ts');
  const output = execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', file]);
  const { passedOn, translated }: Printed = JSON.parse(String(output));
  expect(passedOn).toBeGreaterThan(100_000);
  expect(translated.length).toBe(9);
  expect(translated.filter(({ held, kept }) => !(held < passedOn + buffers + kept))).toEqual([]);
});
