import { expect, test } from '@jest/globals';
import { readEvents } from '../../../../support/client-view.ts';
import { faultsIn, readDeclarations } from '../../../../support/sdk-types.ts';
import { eventsOf, messageOf, toWire } from '../../../../support/strict-messages.ts';
import { chatCases } from './cases/index.ts';
import { translateMessageAnswer, translateMessages } from './translate-messages.ts';
import { bytesOf, plainOf, translateAnswer, translateStream } from './translated.ts';

/* What an SDK's types say is always there, its users read without a look. */

const sdks = {
  chat: {
    ...{
      files: ['chat/completions/completions', 'completions'],
      answer: 'ChatCompletion',
      event: 'ChatCompletionChunk',
    },
    leftOut: [],
  },
  responses: {
    ...{ files: ['responses/responses', 'shared'], answer: 'Response', event: 'ResponseStreamEvent' },
    // The SDK computes `output_text` itself, and OpenAI's own usage is null until the end.
    leftOut: [
      ...['Response.output_text', 'ResponseStreamEvent.response.output_text'],
      'ResponseStreamEvent.response.usage: no object',
    ],
  },
  messages: {
    ...{ files: ['messages/messages'], answer: 'Message', event: 'RawMessageStreamEvent' },
    // Clients send blocks back as they are, and not every server accepts these members in a request.
    leftOut: [
      ...['Message.content[].caller', 'Message.content[].citations'],
      ...['RawMessageStreamEvent.content_block.caller', 'RawMessageStreamEvent.content_block.citations'],
    ],
  },
} as const;
type Client = keyof typeof sdks;

const read = (client: Client) => {
  const folder = client === 'messages' ? '@anthropic-ai/sdk' : 'openai';
  return readDeclarations(sdks[client].files.map((file) => `node_modules/${folder}/resources/${file}.d.ts`));
};
const declarations = { chat: read('chat'), responses: read('responses'), messages: read('messages') };

/** Events that differ only in numbers, ids and texts have the same. */
const formOf = (value: unknown): string =>
  JSON.stringify(value, (name, member) => {
    if (typeof member === 'number') return 0;
    return typeof member === 'string' && /^(\w*id|delta|text|arguments)$/.test(name) ? '' : member;
  });

/** The members in the SDK's types that translated answers lack. */
function missingIn(client: Client, answers: readonly unknown[], streams: readonly string[]): string[] {
  const { answer, event } = sdks[client];
  // The SDKs skip pings.
  const events = streams.flatMap((stream) => readEvents(stream)).filter(({ type }) => type !== 'ping');
  const values = events.flatMap(({ value }) => value ?? []);
  const unlike = [...new Map(values.map((value) => [formOf(value), value])).values()];
  expect(Math.min(answers.length, values.length)).toBeGreaterThan(2);
  const faults = [
    ...answers.flatMap((one) => faultsIn(declarations[client], answer, one)),
    ...unlike.flatMap((one) => faultsIn(declarations[client], event, one)),
  ];
  return [...new Set(faults.map((fault) => fault.replaceAll(/\[\d+\]/g, '[]')))].sort();
}

test.each(['responses', 'messages'] as const)(
  'chat answers for %s have every member that the SDK’s types require',
  (client) => {
    const plain = chatCases.flatMap((one) => plainOf(one) ?? []);
    const answers = plain.map((one) => translateAnswer(client, one));
    const streams = chatCases.map((one) => translateStream(client, bytesOf(one)).output);
    expect(missingIn(client, answers, streams)).toEqual(sdks[client].leftOut);
  },
);

test.each(['chat', 'responses'] as const)('and so do messages for %s', (client) => {
  const said = [
    [{ text: 'Hello' }],
    [{ thinking: 'Hm.' }, { text: 'Hello' }, { call: 'f', input: { a: 1 } }, { call: 'f', id: 'toolu_2' }],
    [{ redacted: 'blob' }, { text: 'Hello' }],
  ];
  const answers = said.map((one) => translateMessageAnswer(client, messageOf(one)));
  const streams = said.map((one) => translateMessages(client, Buffer.from(toWire(eventsOf(one))), []).output);
  expect(missingIn(client, answers, streams)).toEqual(sdks[client].leftOut);
});
