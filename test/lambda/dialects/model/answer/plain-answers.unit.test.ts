import { expect } from '@jest/globals';
import { testRows } from '../../../../support/test-rows.ts';
import { assertResponse } from './response-schema.ts';
import { translateAnswer } from './translated.ts';
import { assertMessage } from './validate.ts';

const rain = '{"city":"Paris"}';
const call = (id: unknown, args: unknown) => ({ id, function: { name: 'weather', arguments: args } });
const named = (id: unknown, input: object = { city: 'Paris' }) => ({ id, name: 'weather', input });
const made = expect.stringMatching(/\d{32}$/);

/** The parts of a plain answer: texts and calls, in order. */
type Says = readonly (string | ReturnType<typeof named>)[];

testRows<readonly [name: string, message: object, says: Says, choice?: object, answer?: object]>([
  ['no content at all', { role: 'assistant' }, []],
  [
    'members that are null, empty or unknown',
    { content: 'Hello', refusal: null, tool_calls: [], function_call: null, audio: null, mood: 'good' },
    ['Hello'],
    { finish_reason: null, index: undefined, logprobs: null, mood: 'good' },
    { usage: null, x_region: 'eu', object: 'text', id: '', created: null },
  ],
  [
    'calls without ids, or with one that is already used',
    { tool_calls: [call(undefined, rain), call('', rain), call('a', rain), call('a', rain)] },
    [named(made), named(made), named('a'), named(made)],
  ],
  [
    'arguments as an object, missing, empty, null, blank, and with white space around them',
    {
      tool_calls: [{ city: 'Paris' }, undefined, '', null, ' \n', 'null', '""', `\n ${rain} `].map((args, at) =>
        call(`call_${at}`, args),
      ),
    },
    [{ city: 'Paris' }, {}, {}, {}, {}, {}, {}, { city: 'Paris' }].map((input, at) => named(`call_${at}`, input)),
  ],
  [
    'a legacy call',
    { content: null, function_call: { name: 'weather', arguments: rain } },
    [named(made)],
    { finish_reason: 'function_call' },
  ],
])('a plain answer with %s', (_name, message, says, choice = {}, rest = {}) => {
  const answer = { id: 'x', model: 'up', choices: [{ index: 0, message, finish_reason: 'stop', ...choice }], ...rest };
  const response = Object(translateAnswer('responses', answer));
  assertResponse(response);
  expect(response).toMatchObject({ status: 'completed', output: says.map(itemOf) });
  const read = Object(translateAnswer('messages', answer));
  assertMessage(read);
  expect(read.content).toMatchObject(says.map(blockOf));
  const hasCalled = says.some((piece) => typeof piece === 'object');
  expect(read.stop_reason).toBe(hasCalled ? 'tool_use' : 'end_turn');
});

function itemOf(piece: Says[number]): object {
  if (typeof piece === 'string') return { type: 'message', content: [{ type: 'output_text', text: piece }] };
  return { type: 'function_call', call_id: piece.id, name: piece.name, arguments: expect.any(String) };
}

function blockOf(piece: Says[number]): object {
  return typeof piece === 'string' ? { type: 'text', text: piece } : { type: 'tool_use', ...piece };
}
