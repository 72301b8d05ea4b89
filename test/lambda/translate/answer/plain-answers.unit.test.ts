import { expect } from '@jest/globals';
import { testRows } from '../../../support/test-rows.ts';
import { assertResponse } from './response-schema.ts';
import { translateAnswer } from './translated.ts';
import { assertMessage } from './validate.ts';

const rain = '{"city":"Paris"}';
const sun = '{"city":"Rome"}';
const call = (id: unknown, args: unknown, rest: object = {}) => ({
  ...{ id, type: 'function', function: { name: 'weather', arguments: args } },
  ...rest,
});
const named = (id: unknown, input: object = { city: 'Paris' }) => ({ id, name: 'weather', input });
const made = expect.stringMatching(/\d{32}$/);

/** What a plain answer says: thoughts, texts and calls, in their order. */
type Says = readonly (string | { readonly thought: string } | ReturnType<typeof named>)[];

const hello: Says = ['Hello'];

testRows<readonly [name: string, message: object, says: Says, choice?: object, answer?: object]>([
  [
    'a part of thoughts',
    {
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'Hello' },
      ],
    },
    [{ thought: 'Hm.' }, ...hello],
  ],
  ['no content at all', { role: 'assistant' }, []],
  [
    'members that are null',
    { content: 'Hello', refusal: null, tool_calls: null, function_call: null, audio: null, annotations: null },
    hello,
  ],
  ['empty lists', { content: 'Hello', tool_calls: [], annotations: [] }, hello],
  [
    'thoughts by three names',
    {
      content: 'Hello',
      reasoning: 'Hm.',
      reasoning_content: 'Hm.',
      reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }],
    },
    [{ thought: 'Hm.' }, ...hello],
  ],
  ['thoughts beside a content that is null', { content: null, reasoning_content: 'Hm.' }, [{ thought: 'Hm.' }]],
  [
    'a call that has an index and no type, whose answer ends with stop',
    { content: '', tool_calls: [call('a', rain, { index: 0, type: undefined })] },
    [named('a')],
    { finish_reason: 'stop' },
  ],
  [
    'calls that all have the index 0',
    { tool_calls: [call('a', rain, { index: 0 }), call('b', sun, { index: 0 })] },
    [named('a'), named('b', { city: 'Rome' })],
  ],
  ['calls with one id', { tool_calls: [call('a', rain), call('a', rain)] }, [named('a'), named(made)]],
  [
    'calls without ids',
    { tool_calls: [call(undefined, rain), call('', sun), call(null, rain)] },
    [named(made), named(made, { city: 'Rome' }), named(made)],
  ],
  [
    'arguments as an object, missing, empty, null, blank, and with white space around them',
    {
      tool_calls: [{ city: 'Paris' }, undefined, '', null, ' \n', `\n ${rain} `].map((args, at) =>
        call(`call_${at}`, args),
      ),
    },
    [{ city: 'Paris' }, {}, {}, {}, {}, { city: 'Paris' }].map((input, at) => named(`call_${at}`, input)),
  ],
  [
    'a legacy call',
    { content: null, function_call: { name: 'weather', arguments: rain } },
    [named(made)],
    { finish_reason: 'function_call' },
  ],
  [
    'all at once',
    { content: 'Hello', reasoning: 'Hm.', tool_calls: [call('a', rain)] },
    [{ thought: 'Hm.' }, 'Hello', named('a')],
  ],
  ['a reason that is null', { content: 'Hello' }, hello, { finish_reason: null }],
  ['no index', { content: 'Hello' }, hello, { index: undefined }],
  ['probabilities that are null', { content: 'Hello' }, hello, { logprobs: null }],
  ['a usage that is null', { content: 'Hello' }, hello, {}, { usage: null }],
  ['members of its own', { content: 'Hello', mood: 'good' }, hello, { mood: 'good' }, { x_region: 'eu', timings: {} }],
  ['an object of another name', { content: 'Hello' }, hello, {}, { object: 'text', id: '', created: null }],
])('a plain answer with %s', (_name, message, says, choice = {}, rest = {}) => {
  const answer = { id: 'x', model: 'up', choices: [{ index: 0, message, finish_reason: 'stop', ...choice }], ...rest };
  const response = Object(translateAnswer('responses', answer));
  assertResponse(response);
  expect(response).toMatchObject({ status: 'completed', output: says.map(itemOf) });
  const read = Object(translateAnswer('messages', answer));
  assertMessage(read);
  expect(read.content).toMatchObject(says.map(blockOf));
  const hasCalled = says.some((piece) => typeof piece === 'object' && 'name' in piece);
  expect(read.stop_reason).toBe(hasCalled ? 'tool_use' : 'end_turn');
});

function itemOf(piece: Says[number]): object {
  if (typeof piece === 'string') return { type: 'message', content: [{ type: 'output_text', text: piece }] };
  if ('thought' in piece) return { type: 'reasoning', summary: [{ text: piece.thought }] };
  return { type: 'function_call', call_id: piece.id, name: piece.name, arguments: expect.any(String) };
}

function blockOf(piece: Says[number]): object {
  if (typeof piece === 'string') return { type: 'text', text: piece };
  return 'thought' in piece ? { type: 'thinking', thinking: piece.thought } : { type: 'tool_use', ...piece };
}
