import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { allDialects } from './read-request.ts';

test('every member that a reader looks for stands in every-member.ts, where it is made slow', () => {
  const file = join(import.meta.dirname, 'looked-for.ts');
  const output = execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', file]);
  const missing = String(output)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(missing).toEqual(allDialects.map(({ name }) => ({ name, missing: [] })));
});
