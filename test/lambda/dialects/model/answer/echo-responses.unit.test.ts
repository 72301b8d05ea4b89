import { expect, test } from '@jest/globals';
import { echoOf } from '../../../../../lambda/dialects/responses/echo-request.ts';
import { createScanner } from '../../../../../lambda/json/scan.ts';

const scan = (body: object, space?: number) => createScanner().scan(JSON.stringify(body, null, space));
const textOf = (...given: Parameters<typeof echoOf>) => echoOf(...given).join('');
const echo = (body: object) => JSON.parse(`{${textOf(scan(body), new Set())}}`);

const unasked = {
  ...{ previous_response_id: null, background: false, store: false, service_tier: 'default' },
  ...{ instructions: null, metadata: {}, tools: [], tool_choice: 'auto', parallel_tool_calls: true },
  ...{ truncation: 'disabled', temperature: 1, top_p: 1, top_logprobs: 0, presence_penalty: 0, frequency_penalty: 0 },
  ...{ max_output_tokens: null, max_tool_calls: null, safety_identifier: null, prompt_cache_key: null },
  ...{ text: { format: { type: 'text' }, verbosity: 'medium' }, reasoning: { effort: null, summary: null } },
};

test('a response repeats the defaults of what was not sent, or sent as null', () => {
  expect(echo({ model: 'svc', input: 'Hello' })).toEqual(unasked);
  const nulls = Object.fromEntries(Object.keys(unasked).map((name) => [name, null]));
  expect(echo({ ...nulls, user: null })).toEqual(unasked);
});

test('a response repeats what was sent, except what is the same for every response of this gateway', () => {
  const format = { type: 'json_schema', name: 'x', description: 'A thing.', schema: { type: 'object' }, strict: true };
  const asked = {
    ...{ instructions: 'Be brief.', metadata: { a: 'b' }, temperature: 0.2, top_p: 0.9, max_output_tokens: 9 },
    ...{ tool_choice: 'required', parallel_tool_calls: false, truncation: 'auto', user: 'u', prompt_cache_key: 'k' },
  };
  const more = { text: { format, verbosity: 'low' }, reasoning: { effort: 'high' }, store: true, service_tier: 'flex' };
  expect(echo({ ...asked, ...more })).toEqual({
    ...{ ...unasked, ...asked },
    ...{ text: { format, verbosity: 'medium' }, reasoning: { effort: 'high', summary: null } },
  });
});

test('tools are repeated with all their members, except those that were left out', () => {
  const search = { type: 'web_search' };
  const custom = { type: 'custom', name: 'patch', format: { type: 'text' } };
  const given = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } };
  const body = scan({ tools: [search, custom, given] });
  const [first] = body.elements(body.member(0, 'tools') ?? 0);
  const { tools } = JSON.parse(`{${textOf(body, new Set([first ?? 0]))}}`);
  expect(tools).toEqual([custom, { ...given, description: null, strict: null }]);
});

test('what is repeated keeps its spelling, on one line', () => {
  const body = { tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }], metadata: { a: 'b\nc' } };
  const text = textOf(scan(body, 2), new Set());
  expect(text).not.toMatch(/[\r\n]/);
  expect(textOf(createScanner().scan('{"temperature":1.0}'), new Set())).toContain('"temperature":1.0,');
  expect(JSON.parse(`{${text}}`).metadata).toEqual(body.metadata);
});
