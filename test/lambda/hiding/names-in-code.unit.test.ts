import { expect, test } from '@jest/globals';
import { warnOfNamesInCode } from '../../../lambda/hiding/names-in-code.ts';
import { testRows } from '../../support/test-rows.ts';

const warn = (...upstreamNames: string[]) =>
  warnOfNamesInCode([], { upstreamNames, hideInText: 'names' }).map((text) => text.split(':')[0]);
const hidden = 'is also hidden in code that a model writes';

testRows<[name: string, warning: string]>([
  ['openai', `openai ${hidden}`],
  ['Claude', `Claude ${hidden} (as in CLAUDE.md)`],
  ['amazon', `amazon ${hidden} (as in amazonaws.com)`],
  ['meta', `meta ${hidden}`],
  ['SGLang', `SGLang ${hidden}`],
  ['llama', `llama ${hidden} (as in llama_index)`],
])('warns of a name that is common in code', (name, warning) => {
  expect(warn(name)).toEqual([warning]);
});

testRows(['glm', 'qwen', 'gpt-oss', 'acmecorp', 'deepseek', 'oss', 'met'])(
  'does not warn of any other name',
  (name) => {
    expect(warn(name)).toEqual([]);
  },
);

test('does not warn if generated text is not scrubbed', () => {
  expect(warnOfNamesInCode([], { upstreamNames: ['openai'], hideInText: 'none' })).toEqual([]);
});
