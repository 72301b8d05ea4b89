import { expect } from '@jest/globals';
import { excerpt, quoteUnlessKey } from '../../../lambda/json/quoting.ts';
import { testRows } from '../../support/test-rows.ts';

testRows([
  ['gpt-5', 'gpt-5'],
  ['a'.repeat(100), 'a'.repeat(100)],
  ['a'.repeat(101), `${'a'.repeat(99)}…`],
  [`${'a'.repeat(98)}😀b`, `${'a'.repeat(98)}…`], // no half of a surrogate pair
  ['line\nfeed\t\u0000\u001b[31m\u0085\u2028', 'linefeed[31m'],
  ['\u202eright\u2066 to left\u200f\ufeff', 'right to left'],
  ['\ud800alone', 'alone'],
  ['通义千问 “quoted”', '通义千问 “quoted”'],
])('an excerpt has at most 100 characters, all of them printable', (text, expected) => {
  expect(excerpt(text, 100)).toBe(expected);
});

testRows([
  'gpt-4o-mini-2024-07-18',
  'us.anthropic.claude-3-5-sonnet-20241022-v2:0',
  'accounts/fireworks/models/deepseek-v3-0324',
  'ft:gpt-4.1-2025-04-14:org:name:9pTkAbCd',
  'task-model',
  'supercalifragilisticexpialidocious',
  '',
])('an id may be repeated', (id) => {
  expect(quoteUnlessKey(id)).toBe(`: '${id}'`);
});

testRows([
  'sk-proj-abc',
  'SK_live_1',
  'pk-test',
  'rk_live_1',
  'ltk_secret',
  'Bearer ltk_secret',
  `https://host/?key=sk-${'a'.repeat(200)}`,
  `${'a'.repeat(95)} sk-secret`,
  'AIzaSyD4iE2xVSpkLLOXoyqT-AzN1NzF7k0aB2c',
  'gsk_4xQ0a8bYc2ZdEfGhIjKlMnOp',
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.x',
  '0123456789abcdef0123456789abcdef',
  '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
])('what may be a key is not repeated', (text) => {
  expect(quoteUnlessKey(text)).toBe('');
});
