import { expect, test } from '@jest/globals';
import { readEvents } from '../../../../support/client-view.ts';
import fc from '../../../../support/properties.ts';
import { begin, chunk, more } from './cases/case.ts';
import { bytesOf, clients, translateStream } from './translated.ts';
import { assertStream, fold } from './validate.ts';

/** Short ones are left out: they count only where a word begins, which depends on what comes before and after. */
const name = /acmecorp|thunder/i;

/** Names of the upstream, whole and in pieces that may come together. */
const words = ['AcmeCorp', 'Acme', 'Corp', 'Thun', 'der', ' thunder', '\\', '"', 'acmecorp/', 'é', ' hello ', '\n'];
const text = fc.array(fc.constantFrom(...words), { maxLength: 6 }).map((chosen) => chosen.join(''));

/** Several pieces of one kind, so that most events are like the one before. */
const said = fc
  .tuple(fc.constantFrom('content', 'reasoning_content', 'refusal'), fc.array(text, { maxLength: 5 }))
  .map(([member, texts]) => texts.map((one) => chunk({ [member]: one })));
const reason = fc.constantFrom('stop', 'tool_calls', 'Thunder');
const marks = { provider: 'AcmeCorp', system_fingerprint: 'fp_Thunder', model: 'acmecorp/thunder-70b-instruct' };
const args = '{"city":"AcmeCorp","Thunder":"thunder"}';

test.each(clients)(
  'no name of the upstream reaches a client of %s but in what its tools read, and that unchanged',
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
  'a thought under two names is told once to a client of %s, although its beginning is held back',
  (client) => {
    const think = (part: string) => chunk({ reasoning_content: part, reasoning: part });
    const chunks = [think('Thun'), chunk({ content: 'a' }), chunk({}, { finish_reason: 'stop' })];
    const { output } = translateStream(client, bytesOf({ chunks }));
    expect(JSON.stringify(fold(client, readEvents(output)))).toContain('"Thun"');
  },
);
