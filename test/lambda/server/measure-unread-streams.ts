import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from '@jest/globals';

/** What a connection and its events on the way may take, in bytes: when a stream is held back is a matter of chance. */
const buffers = 1_048_576;

interface Printed {
  /** What one of sixteen streams holds that are passed on, in bytes. */
  readonly passedOn: number;
  readonly translated: readonly { readonly name: string; readonly held: number; readonly kept: number }[];
}

/** Measures as many shapes: each nth of all. What a translated stream holds is what one that is passed on does, and what is counted. */
export function expectBoundedMemory(count: number, step: number): void {
  const file = join(import.meta.dirname, 'unread-streams.ts');
  const output = execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', file, String(step)]);
  const { passedOn, translated }: Printed = JSON.parse(String(output));
  expect(passedOn).toBeGreaterThan(100_000);
  expect(translated.length).toBe(count);
  expect(translated.filter(({ held, kept }) => !(held < passedOn + buffers + kept))).toEqual([]);
}
