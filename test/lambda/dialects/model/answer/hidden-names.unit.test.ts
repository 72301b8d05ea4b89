import { expect, test } from '@jest/globals';
import { readEvents } from '../../../../support/client-view.ts';
import fc from '../../../../support/properties.ts';
import { begin, chunk, more } from './cases/case.ts';
import { bytesOf, clients, translateStream } from './translated.ts';
import { assertStream, fold } from './validate.ts';

/** Without short names: those are found only at the start of a word, which depends on the text around them. */
const name = /acmecorp|thunder/i;

/** Names of the upstream, whole and in pieces that may join. */
const words = ['AcmeCorp', 'Acme', 'Corp', 'Thun', 'der', ' thunder', '\\', '"', 'acmecorp/', 'é', ' hello ', '\n'];
const text = fc.array(fc.constantFrom(...words), { maxLength: 6 }).map((chosen) => chosen.join(''));

/** Several deltas of one kind, so that most events resemble the one before. */
const said = fc
  .tuple(fc.constantFrom('content', 'reasoning_content', 'refusal'), fc.array(text, { maxLength: 5 }))
  .map(([member, texts]) => texts.map((one) => chunk({ [member]: one })));
const reason = fc.constantFrom('stop', 'tool_calls', 'Thunder');
const marks = { provider: 'AcmeCorp', system_fingerprint: 'fp_Thunder', model: 'acmecorp/thunder-70b-instruct' };
const args = '{"city":"AcmeCorp","Thunder":"thunder"}';

test.each(clients)(
  'names of the upstream reach a client of %s only in tool arguments, which are unchanged',
  (client) => {
    fc.assert(
      fc.property(
        fc.array(said, { maxLength: 4 }),
        fc.nat(args.length),
        reason,
        fc.array(fc.nat(3_000)),
        (...given) => {
          const [texts, place, end, places] = given;
          const calls = [begin('call_Thunder', 0, 'weather', args.slice(0, place)), more(args.slice(place))];
          const ending = chunk({}, { finish_reason: end, matched_stop: 'AcmeCorp' });
          const chunks = [...texts.flat(), ...calls, ending].map((one) => ({
            ...one,
            ...marks,
            id: 'chatcmpl-AcmeCorp',
          }));
          const bytes = bytesOf({ chunks });
          const cuts = places.map((at) => at % bytes.length).sort((a, b) => a - b);
          const events = readEvents(translateStream(client, bytes, {}, cuts).output);
          assertStream(client, events);
          const { output, content, ...rest } = fold(client, events);
          const told = (output ?? content).map(({ input, arguments: text, ...item }: Record<string, unknown>) => ({
            ...item,
            given: input === undefined ? text : JSON.stringify(input),
          }));
          expect(told.at(-1).given).toBe(args);
          delete told.at(-1).given;
          expect(JSON.stringify([told, rest])).not.toMatch(name);
        },
      ),
      { numRuns: 100 },
    );
  },
);

test.each(clients)(
  'reasoning under two names reaches a client of %s once, even if its beginning is held back',
  (client) => {
    const think = (part: string) => chunk({ reasoning_content: part, reasoning: part });
    const chunks = [think('Thun'), chunk({ content: 'a' }), chunk({}, { finish_reason: 'stop' })];
    const { output } = translateStream(client, bytesOf({ chunks }));
    expect(JSON.stringify(fold(client, readEvents(output)))).toContain('"Thun"');
  },
);
