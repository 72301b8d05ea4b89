import { expect, test } from '@jest/globals';
import { warnOfNamesInCode } from '../../../lambda/hiding/names-in-code.ts';
import { testRows } from '../../support/test-rows.ts';

const warn = (...upstreamNames: string[]) =>
  warnOfNamesInCode([], { upstreamNames, hideInText: 'names' }).map((text) => text.split(':')[0]);
const hidden = 'is also hidden in code that a model writes';

testRows<[name: string, warning: string]>([
  ['openai', `openai ${hidden}`],
  ['Claude', `Claude (as in CLAUDE.md) ${hidden}`],
  ['amazon', `amazon (as in amazonaws.com) ${hidden}`],
  ['meta', `meta ${hidden}`],
  ['SGLang', `SGLang ${hidden}`],
  ['llama', `llama (as in llama_index) ${hidden}`],
])('warns of a name that is common in code', (name, warning) => {
  expect(warn(name)).toEqual([warning]);
});

testRows(['glm', 'qwen', 'gpt-oss', 'acmecorp', 'deepseek', 'oss', 'met'])(
  'does not warn of any other name',
  (name) => {
    expect(warn(name)).toEqual([]);
  },
);

test('warns of several names in one sentence', () => {
  expect(warn('amazon', 'acmecorp', 'openai', 'meta')).toEqual([
    'amazon (as in amazonaws.com), openai, and meta are also hidden in code that a model writes',
  ]);
});

test('does not warn if generated text is not scrubbed', () => {
  expect(warnOfNamesInCode([], { upstreamNames: ['openai'], hideInText: 'none' })).toEqual([]);
});
