import { expect, test } from '@jest/globals';
import type { Usage } from '../../../../lambda/dialects/findings.ts';
import { createTranslatingRewriter } from '../../../../lambda/forward/rewrite-translated.ts';
import { atOnce } from '../../../../lambda/json/cooperative.ts';
import { createScanner } from '../../../../lambda/json/scan.ts';
import { rewriteAnswer } from '../../../../lambda/stream/hide.ts';
import { createStreamRewriter } from '../../../../lambda/stream/rewrite-stream.ts';
import { createChatWriter } from '../../../../lambda/translate/chat/write-answer.ts';
import { messagesAnswers } from '../../../../lambda/translate/messages/read-answer.ts';
import { createResponsesWriter } from '../../../../lambda/translate/responses/write-answer.ts';
import { readEvents } from '../../../support/client-view.ts';
import fc from '../../../support/properties.ts';
import { dialectNamed, formatOf, hiding } from '../../../support/rewrite.ts';
import { eventsOf, messageOf, toWire } from '../../../support/strict-messages.ts';

const writers = { chat: createChatWriter, responses: createResponsesWriter };
type Client = keyof typeof writers;
type Said = Parameters<typeof messageOf>[0];

function open(client: Client, live: boolean) {
  const usage: Usage = {};
  const { thoughts, createReader } = messagesAnswers.open(new Set());
  let ids = 0;
  const writer = writers[client]({
    ...{ live, usage, model: 'svc', streamUsage: true, echo: [Buffer.from('"user":"u"')], takeThought: thoughts.take },
    ...{ now: () => 1_700_000_000_000, newHex: () => String(ids++).padStart(32, '0') },
    tools: { find: (name) => ({ kind: 'function', name }) },
    thoughts: { shown: true, sealed: true },
    seal: (thought) => `sealed ${thought}`,
  });
  return { usage, writer, reader: createReader(writer), hears: { ...hiding, ...thoughts } };
}

const format = formatOf(dialectNamed('messages'));

/** What a client reads of a stream that is cut at these offsets. */
function stream(client: Client, wire: Buffer, cuts: readonly number[]) {
  const { usage, writer, reader, hears } = open(client, true);
  const rewriter = createTranslatingRewriter(
    (taker) => createStreamRewriter(format, hears, usage, taker),
    reader,
    writer,
  );
  const edges = [0, ...cuts.map((at) => at % wire.length).sort((a, b) => a - b), wire.length];
  const written = edges.slice(1).map((end, at) => rewriter.push(wire.subarray(edges[at], end)));
  expect(rewriter.ended).toBe(true);
  return [...written, rewriter.finish()].flat().join('');
}

function plain(client: Client, said: Said) {
  const { usage, reader, hears } = open(client, false);
  const clean = atOnce(rewriteAnswer(JSON.stringify(messageOf(said)), format, hears, createScanner(), usage));
  return reader.readAnswer(createScanner().scan(clean)).join('');
}

/** What a client of chat makes of its chunks. */
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
const calling = fc.record({ call: fc.constant('f'), input: fc.dictionary(fc.constantFrom('a', 'Thunder'), text) });
const saying = fc.tuple(
  fc.array(fc.oneof(fc.record({ thinking: text }), fc.record({ redacted: fc.constant('blob') })), { maxLength: 3 }),
  fc.array(fc.record({ text }), { maxLength: 2 }),
  fc.array(calling, { maxLength: 3 }),
);
const numbered = (pieces: readonly Said[]): Said => pieces.flat().map((one, at) => ({ ...one, id: `toolu_${at}` }));

test.each(['chat', 'responses'] as const)(
  'a stream of messages says to a client of %s what the plain answer says, without names, however it is cut',
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
          .replace(/\\"/g, '')
          .replace(/"(arguments|data|encrypted_content)":"[^"]*"/g, '');
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
    fc.assert(property, { numRuns: 200 });
  },
);
