import { expect, test } from '@jest/globals';
import { readEvents } from '../../../../support/client-view.ts';
import fc, { many } from '../../../../support/properties.ts';
import { eventsOf, messageOf, toWire } from '../../../../support/strict-messages.ts';
import { type Client, openStream, translateMessageAnswer, translateMessages } from './translate-messages.ts';

type Said = Parameters<typeof messageOf>[0];

function stream(client: Client, wire: Buffer, cuts: readonly number[]) {
  const inOrder = cuts.map((at) => at % wire.length).sort((a, b) => a - b);
  const { output, ended } = translateMessages(client, wire, inOrder);
  expect(ended).toBe(true);
  return output;
}

const plain = (client: Client, said: Said) => JSON.stringify(translateMessageAnswer(client, messageOf(said)));

/** What a chat client makes of its chunks. */
function foldChat(output: string) {
  const message: Record<string, unknown> = {};
  const calls: Record<string, unknown>[] = [];
  let finish: unknown;
  const chunks = output.split('\n\n').flatMap((event) => (/^data: \{/.test(event) ? [JSON.parse(event.slice(6))] : []));
  for (const { choices } of chunks) {
    for (const { delta, finish_reason } of choices) {
      finish = finish_reason ?? finish;
      const { tool_calls: fragments = [], ...texts } = delta;
      for (const [name, text] of Object.entries(texts)) {
        message[name] = typeof text === 'string' && name !== 'role' ? `${message[name] ?? ''}${text}` : text;
      }
      for (const { index, function: part, ...rest } of fragments) {
        const { function: known = { name: '', arguments: '' }, ...call } = Object(calls[index] ?? {});
        const whole = { name: known.name + (part.name ?? ''), arguments: known.arguments + part.arguments };
        calls[index] = { ...call, ...rest, function: whole };
      }
    }
  }
  return { message: { ...message, ...(calls.length > 0 && { tool_calls: calls }) }, finish };
}

const words = fc.constantFrom(
  'AcmeCorp',
  'Acme',
  'Corp',
  'Thun',
  'der',
  ' thunder',
  '\\',
  '"',
  'é',
  ' hello ',
  '\n',
  '\u{1f600}',
);
const text = fc.array(words, { minLength: 1, maxLength: 6 }).map((chosen) => `a${chosen.join('')}`);
const piece = fc.array(words, { minLength: 1, maxLength: 6 }).map((chosen) => chosen.join(''));
const calling = fc.record({ call: fc.constant('f'), input: fc.dictionary(fc.constantFrom('a', 'Thunder'), text) });
const saying = fc.tuple(
  fc.array(fc.oneof(fc.record({ thinking: text }), fc.record({ redacted: fc.constant('blob') })), { maxLength: 3 }),
  // Reasoning may interrupt a text.
  fc.array(fc.oneof(fc.record({ text: piece }), fc.record({ thinking: text })), { maxLength: 4 }),
  fc.array(calling, { maxLength: 3 }),
);
const numbered = (pieces: readonly Said[]): Said => pieces.flat().map((one, at) => ({ ...one, id: `toolu_${at}` }));

test.each(['chat', 'responses'] as const)(
  'a stream of messages means the same to a client of %s as the plain answer, without names, wherever it is split',
  (client) => {
    const property = fc.property(
      saying,
      fc.array(fc.nat(9_999)),
      fc.integer({ min: 1, max: 9 }),
      (pieces, cuts, length) => {
        const said = numbered(pieces);
        const output = stream(client, Buffer.from(toWire(eventsOf(said, {}, length))), cuts);
        const whole = JSON.parse(plain(client, said));
        const shown = JSON.stringify(whole)
          .replace(/\\"/g, '_')
          .replace(/"(arguments|data|signature|encrypted_content)":"[^"]*"/g, '');
        expect(shown).not.toMatch(/acmecorp|thunder/i);
        if (client === 'chat') {
          const { message, finish } = foldChat(output);
          const { refusal: _, content, ...rest } = whole.choices[0].message;
          expect([message, finish]).toEqual([{ ...rest, content: content ?? '' }, whole.choices[0].finish_reason]);
          expect(output.match(/"usage":/g)).toHaveLength(1);
        } else {
          const events = readEvents(output).map(({ value }) => Object(value));
          expect(events.map((event) => event.sequence_number)).toEqual(events.map((_event, at) => at));
          expect(events.at(-1).response).toEqual(whole);
        }
      },
    );
    fc.assert(property, { numRuns: many(60) });
  },
);

test('signed and encrypted data counts towards the limit of an answer, 32 MiB', () => {
  const data = 'a'.repeat(1024 * 1024);
  const event = (type: string, more: object) => toWire([{ type, index: 0, ...more }]);
  const begin = (block: object) => event('content_block_start', { content_block: block });
  const end = event('content_block_stop', {});
  const pieces = [
    end + begin({ type: 'thinking', thinking: '', signature: data }),
    event('content_block_delta', { delta: { type: 'signature_delta', signature: data } }),
    end + begin({ type: 'redacted_thinking', data }),
  ].map((piece) => Buffer.from(piece));
  const rewriter = openStream('chat');
  rewriter.push(Buffer.from(event('message_start', { message: messageOf([]) }) + begin({ type: 'text', text: '' })));
  const failsAfter = Array.from({ length: 40 }).findIndex((_, at) => {
    rewriter.push(pieces[at % pieces.length] ?? Buffer.alloc(0));
    return rewriter.failure !== undefined;
  });
  expect([failsAfter, rewriter.failure]).toMatchObject([31, { kind: 'broken', charged: true }]);
});
