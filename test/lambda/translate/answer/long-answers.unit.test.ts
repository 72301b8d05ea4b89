import { expect, test } from '@jest/globals';
import { charactersPerSlice } from '../../../../lambda/json/cooperative.ts';
import { createScanner, type Json } from '../../../../lambda/json/scan.ts';
import { cutLiteral } from '../../../../lambda/translate/answer/answer-sink.ts';
import { chatAnswers } from '../../../../lambda/translate/chat/read-answer.ts';
import { open } from './translate-messages.ts';
import { createWriter } from './translated.ts';

const length = 3 * charactersPerSlice;

test.each(['a', '\\"', '\\\\', '\\\\\\n', '\\u0041', 'a\\u00e9', '\\\\u0041', '\\\\\\u0041', 'aaaa\\n', '我'])(
  'a long text of %s is cut only between characters, wherever it begins',
  (spelt) => {
    for (let before = 0; before < 7; before += 1) {
      const literal = `"${'a'.repeat(before)}${spelt.repeat(Math.ceil(length / spelt.length))}"`;
      const pieces = cutLiteral(literal);
      expect(pieces.length).toBeGreaterThan(2);
      expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(charactersPerSlice + 10);
      expect(pieces.map((piece) => JSON.parse(piece)).join('') === JSON.parse(literal)).toBe(true);
    }
  },
);

/** What the work returns, and how often it let others go first. */
function run<T>(work: Generator<undefined, T>): { readonly value: T; readonly pauses: number } {
  for (let pauses = 0; ; pauses += 1) {
    const { done, value } = work.next();
    if (done) return { value, pauses };
  }
}

const args = { input: 'a "word"\n'.repeat(length / 8) };
const scan = (answer: object): Json => createScanner().scan(JSON.stringify(answer));

test.each(['responses', 'messages'] as const)('a long call of chat is written for %s with pauses', (client) => {
  const { thoughts, createReader } = chatAnswers.open(new Set());
  const writer = createWriter(client, {}, {}, { live: false, takeThought: thoughts.take });
  const made = { id: 'c', type: 'function', function: { name: 'f', arguments: JSON.stringify(args) } };
  const message = { role: 'assistant', content: null, tool_calls: [made, { ...made, id: 'd' }] };
  const answer = scan({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
  const { value, pauses } = run(createReader(writer).readAnswer(answer));
  const { content, output } = JSON.parse(value.join(''));
  const inputs = (content ?? output).map((one: { input?: object; arguments?: string }) =>
    one.arguments === undefined ? one.input : JSON.parse(one.arguments),
  );
  expect(inputs).toEqual([args, args]);
  expect(pauses).toBeGreaterThan(6);
});

test.each(['chat', 'responses'] as const)('a long call of messages is written for %s with pauses', (client) => {
  const { reader } = open(client, false);
  const use = { type: 'tool_use', id: 'a', name: 'f', input: args };
  const answer = scan({ type: 'message', content: [use, { ...use, id: 'b' }], stop_reason: 'tool_use' });
  const { value, pauses } = run(reader.readAnswer(answer));
  const { choices, output } = JSON.parse(value.join(''));
  const given = choices
    ? choices[0].message.tool_calls.map((one: { function: { arguments: string } }) => one.function.arguments)
    : output.map((one: { arguments: string }) => one.arguments);
  expect(given.map((one: string) => JSON.parse(one))).toEqual([args, args]);
  expect(pauses).toBeGreaterThan(6);
});
