import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { runNode } from '../../support/run-command.ts';

test("V8's space for young objects grows no further while anyone holds it", async () => {
  const { out, err } = await runNode(join(import.meta.dirname, 'young-space-program.ts'), [], {});
  expect(err).toBe('');
  const { before, heldByTwo, heldByOne, released } = JSON.parse(out);
  expect([heldByTwo, heldByOne]).toEqual([before, before]);
  expect(released).toBeGreaterThan(before);
});
