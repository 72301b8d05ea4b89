import { expect, test } from '@jest/globals';
import { UpstreamFault } from '../../../../../lambda/dialects/model/answer/answer-sink.ts';
import { readEvents } from '../../../../support/client-view.ts';
import { begin, call, chunk, end, more, say } from './cases/case.ts';
import { bytesOf, clients, plainOf, translateAnswer, translateStream } from './translated.ts';
import { assertStream } from './validate.ts';

const second = { choices: [{ index: 1, delta: { content: 'b' } }] };

test.each(
  clients.flatMap((client) => {
    const broken: [string, readonly (object | string)[]][] = [
      ['a second choice', [say('a'), second, end()]],
      ['an end that is a failure', [say('a'), end('error')]],
      ['an end that is an abort', [say('a'), end('abort')]],
      ['a call that never gets a name', [call({ index: 0, id: 'x', args: '{}' }), end('tool_calls')]],
      ['a text that is a number', [say('a'), chunk({ content: 5 }), end()]],
      ['reasoning that is a number', [say('a'), chunk({ reasoning_content: [{ text: 5 }] }), end()]],
      ['an event that is no JSON', [say('a'), 'data: {"choices":[\n\n', end()]],
      ['a call that is never finished', [say('a'), call({ index: 0, id: 'x', name: 'f', args: '{"city":' })]],
      ['a call without arguments that is never finished', [call({ index: 0, id: 'x', name: 'f' })]],
      ['an error', [say('a'), { error: { message: 'out of memory' } }]],
    ];
    return broken.map(([what, chunks]) => [what, client, chunks] as const);
  }),
)('%s breaks a stream of %s', (_what, client, chunks) => {
  const { output, ended } = translateStream(client, bytesOf({ chunks }));
  const events = readEvents(output);
  assertStream(client, events);
  expect([ended, events.at(-1)?.type]).toEqual([false, 'error']);
});

const message = (content: object, rest: object = {}) => ({ choices: [{ index: 0, message: content, ...rest }] });

test.each(
  clients.flatMap((client) => {
    const broken: [string, object][] = [
      ['no choices', { choices: [] }],
      ['no message', { choices: [{ index: 0, finish_reason: 'stop' }] }],
      ['two choices', { choices: [message({ content: 'a' }).choices[0], { index: 1, message: { content: 'b' } }] }],
      ['an end that is a failure', message({ content: 'a' }, { finish_reason: 'error' })],
      ['a text that is a number', message({ content: 5 })],
      ['a call without a name', message({ tool_calls: [{ id: 'x', function: { arguments: '{}' } }] })],
    ];
    return broken.map(([what, answer]) => [what, client, answer] as const);
  }),
)('%s is not a valid answer for %s', (_what, client, answer) => {
  expect(() => translateAnswer(client, answer)).toThrow(UpstreamFault);
});

test.each([
  ['broken', '{"city":'],
  ['a list', '["Paris"]'],
])('a message can’t hold a call with arguments that are %s', (_what, args) => {
  const chunks = [say('a'), call({ index: 0, id: 'x', name: 'f', args }), end('tool_calls')];
  const { output, ended } = translateStream('messages', bytesOf({ chunks }));
  const events = readEvents(output);
  assertStream('messages', events);
  expect([ended, events.at(-1)?.type]).toEqual([false, 'error']);
  const says = [{ text: 'a' }, { call: 'f', args }];
  expect(() => translateAnswer('messages', plainOf({ name: '', chunks, says }) ?? {})).toThrow(TypeError);
  // In responses they are a text, which is for the client to validate.
  const { output: responses } = translateStream('responses', bytesOf({ chunks }));
  expect(readEvents(responses).at(-1)?.value).toMatchObject({ response: { output: [{}, { arguments: args }] } });
});

test('a call that the limit cut off ends where it was cut, and is left out of a plain answer', () => {
  const [whole, cut] = ['{"city":"Paris"}', '{"city":'];
  const chunks = [begin('a', 0, 'f', whole), begin('b', 1, 'f', cut), begin('c', 2, 'f', cut), end('length')];
  const events = readEvents(translateStream('messages', bytesOf({ chunks })).output);
  assertStream('messages', events);
  const values = events.map(({ value }) => Object(value));
  expect(values.flatMap(({ content_block: block }) => block?.id ?? [])).toEqual(['a', 'b']);
  expect(values.flatMap(({ delta }) => delta?.partial_json ?? [])).toEqual([whole, cut]);
  const says = [whole, cut, cut].map((args, at) => ({ call: 'f', args, id: 'abc'.charAt(at) }));
  const plain = Object(translateAnswer('messages', plainOf({ name: '', chunks, says, finish: 'length' }) ?? {}));
  expect([values.at(-2).delta.stop_reason, plain.stop_reason]).toEqual(['max_tokens', 'max_tokens']);
  expect(plain.content).toMatchObject([{ id: 'a', input: { city: 'Paris' } }]);
});

test('an answer that is longer than any model writes is broken off before it fills the memory', () => {
  const text = 'x'.repeat(4 * 1024 * 1024);
  const calling = begin('a', 0, 'weather', '{"city":"');
  const chunks = [...Array(4).fill(say(text)), calling, ...Array(4).fill(more(text)), more('"}'), end()];
  const { output, ended } = translateStream('messages', bytesOf({ chunks }));
  expect([ended, output.match(/^event: content_block_delta$/gm)?.length]).toEqual([false, 4 + 1 + 3]);
  const calls = (count: number) =>
    message({ tool_calls: Array(count).fill({ function: { name: 'f', arguments: '{}' } }) }, { finish_reason: 'stop' });
  expect(() => translateAnswer('responses', calls(10_000))).not.toThrow();
  expect(() => translateAnswer('responses', calls(10_001))).toThrow('more than 10000 calls in one answer');
});

test('a stream that never begins writes no event', () => {
  for (const client of clients) {
    const { output } = translateStream(client, Buffer.from('data: [DONE]\n\n'));
    expect(readEvents(output).map(({ type }) => type)).toEqual(['error']);
  }
});
