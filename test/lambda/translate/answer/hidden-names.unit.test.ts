import { expect, test } from '@jest/globals';
import { readEvents } from '../../../support/client-view.ts';
import fc from '../../../support/properties.ts';
import { call, chunk } from './cases/case.ts';
import { bytesOf, type Client, clients, translateStream } from './translated.ts';
import { assertStream } from './validate.ts';

/** Short ones are left out: they count only where a word begins, which depends on what comes before and after. */
const name = /acmecorp|thunder/i;

/** Names of the upstream, whole and in pieces that may come together. */
const words = ['AcmeCorp', 'Acme', 'Corp', 'Thun', 'der', ' thunder', '\\', '"', 'acmecorp/', 'é', ' hello ', '\n'];
const text = fc.array(fc.constantFrom(...words), { maxLength: 6 }).map((chosen) => chosen.join(''));
const input = fc.dictionary(fc.constantFrom('city', 'AcmeCorp'), text, { minKeys: 1 });

/** Several pieces of one kind, so that most events are like the one before. */
const said = fc
  .tuple(fc.constantFrom('content', 'reasoning_content', 'refusal'), fc.array(text, { maxLength: 5 }))
  .map(([member, texts]) => texts.map((one) => ({ [member]: one })));
const called = fc.record({ name: fc.constantFrom('weather', 'AcmeCorp_search', 'patch'), input, args: fc.nat(30) });
const calls = fc.array(called, { maxLength: 2 });
const reason = fc.constantFrom('stop', 'tool_calls', 'Thunder');

const tools = { patch: { kind: 'custom', name: 'patch' } } as const;

/** Every string that is not what a program reads back, and the arguments of the calls. */
function* stringsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value)) for (const element of value) yield* stringsOf(element);
  else if (typeof value === 'object' && value !== null) {
    const isCall = /_call$|^tool_use$/.test(String(Object(value).type));
    for (const [key, member] of Object.entries(value)) {
      if (!(isCall && /^(name|arguments|input)$/.test(key))) yield* stringsOf(member);
    }
  }
}

/** What a client has at the end: the last object of responses, the blocks of messages put together. */
function fold(client: Client, output: string): { readonly whole: unknown; readonly inputs: readonly string[] } {
  const events = readEvents(output);
  assertStream(client, events);
  const values = events.map(({ value }) => Object(value));
  if (client === 'responses') {
    const { response } = values.at(-1);
    return { whole: response, inputs: inputsOf(response.output) };
  }
  const blocks = new Map<number, { type: string; text: string }>();
  for (const { index, content_block: block, delta } of values) {
    if (block) blocks.set(index, { ...block, text: '' });
    const open = blocks.get(index);
    if (open) open.text += delta?.text ?? delta?.thinking ?? delta?.partial_json ?? '';
  }
  const whole = [...blocks.values()].map((block) => (block.type === 'tool_use' ? { ...block, text: '' } : block));
  const inputs = [...blocks.values()].flatMap((block) => (block.type === 'tool_use' ? [block.text] : []));
  return { whole: [whole, values.filter(({ type }) => !/^content_block/.test(type))], inputs };
}

const inputsOf = (items: readonly Record<string, unknown>[]): string[] =>
  items.flatMap((item) => (/_call$/.test(String(item.type)) ? [String(item.arguments ?? item.input)] : []));

test.each(clients)(
  'no name of the upstream reaches a client of %s but in what its tools read, and that unchanged',
  (client) => {
    fc.assert(
      fc.property(
        fc.array(said, { maxLength: 4 }),
        calls,
        reason,
        fc.array(fc.nat(3_000)),
        fc.boolean(),
        (texts, made, end, places, isWhole) => {
          const given = made.map(({ name, input: value, args }, index) => {
            const whole = JSON.stringify(name === 'patch' ? { input: Object.values(value).join() } : value);
            return { index, name, whole, pieces: [whole.slice(0, args), whole.slice(args)] };
          });
          const marks = {
            provider: 'AcmeCorp',
            system_fingerprint: 'fp_Thunder',
            model: 'acmecorp/thunder-70b-instruct',
          };
          const chunks = [
            ...texts.flat().map((delta) => chunk(delta)),
            ...given.flatMap(({ index, name, pieces }) => [
              call({ index, id: `call_Thunder${index}`, name }),
              ...pieces.map((args) => call({ index, args })),
            ]),
            chunk({}, { finish_reason: end, matched_stop: 'AcmeCorp' }),
          ].map((one) => ({ ...one, ...marks, id: 'chatcmpl-AcmeCorp' }));
          const bytes = bytesOf({ chunks });
          const events = [...String(bytes).matchAll(/\n\n/g)].map(({ index }) =>
            Buffer.byteLength(String(bytes).slice(0, index + 2)),
          );
          const cuts = [...places.map((place) => place % bytes.length), ...(isWhole ? [] : events)].sort(
            (a, b) => a - b,
          );
          const { output, ended } = translateStream(client, bytes, { tools }, cuts);
          expect(ended).toBe(true);
          const { whole, inputs } = fold(client, output);
          expect([...stringsOf(whole)].filter((one) => name.test(one))).toEqual([]);
          const expected = given.map(({ name, whole: args }) =>
            client === 'responses' && name === 'patch' ? JSON.parse(args).input : args,
          );
          expect(inputs).toEqual(expected);
        },
      ),
      { numRuns: 200 },
    );
  },
);
