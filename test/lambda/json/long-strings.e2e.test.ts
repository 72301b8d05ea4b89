import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { testRows } from '../../support/test-rows.ts';

const script = `
  const { createScanner } = await import(process.argv[1]);
  for (const [text, times] of [['x', 20e6], ['\\\\n', 10e6], ['\\u20ac', 20e6]])
    console.log(createScanner().scan('"' + text.repeat(times) + '"').end(0));
`;

// V8 stops optimizing regular expressions in a process that has compiled many.
testRows([[], ['--no-regexp-optimization'], ['--regexp-interpret-all']])(
  'strings of 20 MB are scanned within the stack',
  (...flags) => {
    const scanner = join(import.meta.dirname, '../../../lambda/json/scan.ts');
    const output = execFileSync(process.execPath, [...flags, '--input-type=module', '-e', script, scanner]);
    expect(String(output).trim().split('\n').map(Number)).toEqual(Array(3).fill(20e6 + 2));
  },
);
