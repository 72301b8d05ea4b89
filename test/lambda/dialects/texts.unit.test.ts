import { describe, expect, test } from '@jest/globals';
import { createScrubber } from '../../../lambda/hiding/scrub.ts';
import { readEvents } from '../../support/client-view.ts';
import { dialectNames } from '../../support/fixtures.ts';
import fc, { cut, many } from '../../support/properties.ts';
import { answerOf, dialectNamed, rewriteStream, scrubber } from '../../support/rewrite.ts';
import { tellers } from '../../support/speech/index.ts';
import { type Speech, toWire } from '../../support/speech/teller.ts';
import { findIdentity, upstreamIdentity } from '../../support/upstream-identity.ts';

const { textModel, visionModel, host, names } = upstreamIdentity;
const known = [textModel, visionModel, host, ...names];
const longNames = known.filter((one) => one.length > 4);
const long = createScrubber(longNames, 'svc');

const name = fc
  .tuple(fc.constantFrom(...known), fc.constantFrom('as it is', 'upper', 'lower'))
  .map(([text, form]) => (form === 'upper' ? text.toUpperCase() : form === 'lower' ? text.toLowerCase() : text));
const beginning = fc.tuple(name, fc.nat()).map(([text, length]) => text.slice(0, length % text.length));
const filler = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.constantFrom(...' -_exX4sSéÉ\n"\\\0\u2028漢🌩', '_4', '4_', 's_', '. ', '\\n', '\ud83c', '\udf29'),
);
const text = fc
  .array(fc.oneof({ weight: 2, arbitrary: name }, beginning, { weight: 2, arbitrary: filler }), { maxLength: 8 })
  .map((parts) => parts.join(''));

/** A text in pieces: cut anywhere, inside a character too, some of them empty. */
const pieces = fc.tuple(text, fc.array(fc.nat(), { maxLength: 12 })).map(([whole, offsets]) => cut(whole, offsets));
const letters = text.map((whole) => whole.split(''));
const speechOf = (kinds: readonly string[]): fc.Arbitrary<Speech> =>
  fc.record({ kind: fc.constantFrom(...kinds), pieces: fc.oneof(pieces, letters) });

/** Streams of each dialect. `STREAMS` is the total. */
const streams = Math.ceil(Number(process.env.STREAMS ?? many(240)) / dialectNames.length);
/** Milliseconds that one stream may take on average. */
const longest = 20;

const wholes = (speeches: readonly Speech[]) => speeches.map((speech) => speech.pieces.join(''));

/** Chooses by these numbers, over and over. */
function picker(numbers: readonly number[]): (count: number) => number {
  let turn = 0;
  return (count) => (numbers[turn++ % numbers.length] ?? 0) % count;
}

describe.each(dialectNames)('texts of %s', (dialectName) => {
  const dialect = dialectNamed(dialectName);
  const teller = tellers[dialectName];
  const hear = (bytes: Uint8Array, cuts: readonly number[] = []) => {
    const { output, rewriter } = rewriteStream(dialect, bytes, cuts);
    expect([rewriter.ended, rewriter.failure]).toEqual([true, undefined]);
    return teller.hear(readEvents(output));
  };

  test(
    'any text, however it is cut, reads like the whole text scrubbed',
    () => {
      // One text of each kind: two of a kind may join, which the next test covers.
      const speeches = fc.uniqueArray(speechOf(teller.kinds), { selector: ({ kind }) => kind, minLength: 1 });
      fc.assert(
        fc.property(speeches, fc.array(fc.nat(), { minLength: 1 }), fc.boolean(), (told, turns, escaped) => {
          const heard = hear(toWire(teller.tell(told, picker(turns)), escaped));
          expect(heard).toEqual(wholes(told).map(scrubber.scrub));
          // After a hidden name, what was the middle of a word (`THUNDERAcme`) looks like a new word.
          expect(heard.flatMap((one) => findIdentity(one.replaceAll(/svc(?=acme)/gi, '__')))).toEqual([]);
          expect(teller.hearAnswer(answerOf(dialect, teller.answer(told)))).toEqual(heard);
        }),
        { numRuns: streams },
      );
    },
    120_000 + streams * longest,
  );

  test('a name that begins in one text and ends in the next of its kind does not come together', () => {
    const halves = fc.tuple(name, fc.nat(), filler).map(([whole, at, end]) => {
      const cut = 1 + (at % (whole.length - 1));
      return [`${end}${whole.slice(0, cut)}`, `${whole.slice(cut)}${end}`];
    });
    fc.assert(
      fc.property(fc.constantFrom(...teller.kinds), fc.array(halves, { minLength: 1, maxLength: 3 }), (kind, told) => {
        const speeches = told.flat().map((half) => ({ kind, pieces: [half] }));
        const heard = hear(toWire(teller.tell(speeches)));
        if (dialectName === 'chat') expect(heard).toEqual(wholes(speeches).map(scrubber.scrub));
        else expect(long.find(heard.join(''))).toBeUndefined();
        expect(teller.hearAnswer(answerOf(dialect, teller.answer(speeches)))).toEqual(heard);
      }),
      { numRuns: many(60) },
    );
  });
});
