import { expect, test } from '@jest/globals';
import { chatAnswers } from '../../../../../lambda/dialects/chat/read-answer.ts';
import { createScanner, type Json } from '../../../../../lambda/json/scan.ts';
import { open } from './translate-messages.ts';
import { createWriter } from './translated.ts';

const args = { input: 'a "word"\n'.repeat(100_000) };
const scan = (answer: object): Json => createScanner().scan(JSON.stringify(answer));

test.each(['responses', 'messages'] as const)('a long call of chat is written for %s', (client) => {
  const { reasoning, createReader } = chatAnswers.open(new Set());
  const writer = createWriter(client, {}, {}, { live: false, takeReasoning: reasoning.take });
  const made = { id: 'c', type: 'function', function: { name: 'f', arguments: JSON.stringify(args) } };
  const message = { role: 'assistant', content: null, tool_calls: [made, { ...made, id: 'd' }] };
  const answer = scan({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
  const value = createReader(writer).readAnswer(answer);
  const { content, output } = JSON.parse(value.join(''));
  const inputs = (content ?? output).map((one: { input?: object; arguments?: string }) =>
    one.arguments === undefined ? one.input : JSON.parse(one.arguments),
  );
  expect(inputs).toEqual([args, args]);
});

test.each(['chat', 'responses'] as const)('a long call of messages is written for %s', (client) => {
  const { reader } = open(client, false);
  const use = { type: 'tool_use', id: 'a', name: 'f', input: args };
  const answer = scan({ type: 'message', content: [use, { ...use, id: 'b' }], stop_reason: 'tool_use' });
  const value = reader.readAnswer(answer);
  const { choices, output } = JSON.parse(value.join(''));
  const given = choices
    ? choices[0].message.tool_calls.map((one: { function: { arguments: string } }) => one.function.arguments)
    : output.map((one: { arguments: string }) => one.arguments);
  expect(given.map((one: string) => JSON.parse(one))).toEqual([args, args]);
});
