import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const script = `
  const { quoteUnlessKey } = await import(process.argv[1]);
  for (const id of ['a'.repeat(5e6), 'sk-' + 'a'.repeat(5e6), 'a1'.repeat(25e5)]) console.log(quoteUnlessKey(id).length);
`;

// V8 stops optimizing regular expressions in a process that has compiled many.
test.each([[], ['--no-regexp-optimization'], ['--regexp-interpret-all']])(
  'ids of 5 MB are quoted, or not, within the stack %s',
  (...flags) => {
    const file = join(import.meta.dirname, '../../../lambda/http/excerpt.ts');
    const output = execFileSync(process.execPath, [...flags, '--input-type=module', '-e', script, file]);
    // The colon, the quotes and a hundred characters; the others may be keys.
    expect(String(output).trim().split('\n').map(Number)).toEqual([104, 0, 0]);
  },
);
