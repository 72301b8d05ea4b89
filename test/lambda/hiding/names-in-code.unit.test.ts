import { expect, test } from '@jest/globals';
import { warnOfNamesInCode } from '../../../lambda/hiding/names-in-code.ts';
import { testRows } from '../../support/test-rows.ts';

const warn = (...upstreamNames: string[]) =>
  warnOfNamesInCode([], { upstreamNames, hideInText: 'names' }).map((text) => text.split(':')[0]);
const hidden = 'is hidden in the code that a model writes too';

testRows<[name: string, warning: string]>([
  ['openai', `openai ${hidden}`],
  ['Claude', `Claude ${hidden} (as in CLAUDE.md)`],
  ['amazon', `amazon ${hidden} (as in amazonaws.com)`],
  ['meta', `meta ${hidden}`],
  ['SGLang', `SGLang ${hidden}`],
  ['llama', `llama ${hidden} (as in llama_index)`],
])('a name that stands in code is warned of', (name, warning) => {
  expect(warn(name)).toEqual([warning]);
});

testRows(['glm', 'qwen', 'gpt-oss', 'acmecorp', 'deepseek', 'oss', 'met'])(
  'a name of an upstream alone is not',
  (name) => {
    expect(warn(name)).toEqual([]);
  },
);

test('nothing is warned of where texts are left alone', () => {
  expect(warnOfNamesInCode([], { upstreamNames: ['openai'], hideInText: 'none' })).toEqual([]);
});
