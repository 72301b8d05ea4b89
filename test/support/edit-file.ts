import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from '@jest/globals';

/** Replaces a piece of a file, which must be there. */
export function editFile(path: string, before: string, after: string): void {
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(before);
  writeFileSync(
    path,
    text.replace(before, () => after),
  );
}
