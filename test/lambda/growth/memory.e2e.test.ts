import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { testRows } from '../../support/test-rows.ts';

const token = { token: 'Hello', logprob: -0.0123456, bytes: [72, 101, 108, 108, 111], top_logprobs: [] };
const inArray = ['{"choices":[],"a":[', '1]}'] as const;
const inContent = ['{"choices":[{"message":{"content":[', '1]}}]}'] as const;

const dense = /JsonLimit: .*: too many/;
const shapes: readonly (readonly [part: string, around: readonly [string, string], outcome: RegExp])[] = [
  ['1,', inArray, dense],
  ['"",', inArray, dense],
  ['[],', inArray, dense],
  ['NaN,', inArray, /JsonFault: .*: expected a value/],
  ['{"":1},', inArray, dense],
  ['{},', ['{"choices":[', '{}]}'], dense],
  ['"x_":1,', ['{"choices":[],', '"a":1}'], dense],
  ['"x_":"                    ",', ['{"choices":[],', '"a":1}'], /RangeError/],
  ['{"text":"                        "},', inContent, /RangeError/],
  ['"acme and others",', inArray, /RangeError/],
  ['acme ', ['{"choices":[],"a":"', '"}'], /RangeError/],
  ['acme ', ['{"choices":[{"message":{"content":"', '"}}]}'], /RangeError/],
  [`${JSON.stringify(token)},`, ['{"choices":[{"logprobs":[', '1]}]}'], /^rewritten$/],
  ['Hello ', ['{"choices":[{"message":{"content":"', '"}}]}'], /^rewritten$/],
];

// A function of 512 MB has the runtime, the bytes and the text to hold, too.
const size = 31_000_000;

testRows(shapes)('31 MB in any shape', (part, [before, after], outcome) => {
  const script = join(import.meta.dirname, 'read-answer.ts');
  const heap = ['--max-old-space-size=256', '--disable-warning=ExperimentalWarning'];
  const output = execFileSync(process.execPath, [...heap, script, before, part, after, String(size)]);
  const measured = JSON.parse(String(output));
  expect(measured.outcome).toMatch(outcome);
  expect(measured.length).toBeGreaterThan(0.99 * size);
  expect(measured.added).toBeLessThan(3 * size);
});
