import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { findCommit } from '../../lib/synthesis.ts';
import { createCheckout } from '../support/checkout.ts';

const { folder, git, remove } = createCheckout(['package.json']);
afterAll(remove);

test('the deployed commit is that of the working tree, marked if there are further changes', () => {
  git('tag', 'v1'); // a tag can move, so it must not be the answer
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: folder, encoding: 'utf8' }).trim();
  expect(findCommit(folder)).toBe(commit);
  appendFileSync(join(folder, 'package.json'), '\n');
  expect(findCommit(folder)).toBe(`${commit}-dirty`);
});

test('without a repository the commit is unknown', () => {
  const nowhere = mkdtempSync(join(tmpdir(), 'gateway-nowhere-'));
  expect(findCommit(nowhere)).toBeUndefined();
  rmSync(nowhere, { recursive: true });
});
