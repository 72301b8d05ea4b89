import fc from '../../support/properties.ts';

/** A JSON text and what a scanner must find in it. */
interface PrintedJson {
  readonly text: string;
  /** The text of every value and key, in the order in which they start. */
  readonly nodes: readonly string[];
}

const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 2 });
const spaced = (inner: fc.Arbitrary<PrintedJson>) =>
  fc.tuple(space, inner, space).map(([before, { text, ...rest }, after]) => ({ text: before + text + after, ...rest }));

const hex = fc.constantFrom(...'0123456789abcdefABCDEF');
const character = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...'abcdefm {}[]:,/\u007f\u2028é漢\ud83d\ude00\ud800') },
  { weight: 1, arbitrary: fc.constantFrom(...'"\\/bfnrt').map((escaped) => `\\${escaped}`) },
  { weight: 1, arbitrary: fc.tuple(hex, hex, hex, hex).map((digits) => `\\u${digits.join('')}`) },
);
const characters = fc.array(character, { maxLength: 6 }).map((parts) => parts.join(''));
const longRun = fc.tuple(fc.integer({ min: 40, max: 120 }), characters).map(([times, end]) => 'x'.repeat(times) + end);
const leaf = (text: string): PrintedJson => ({ text, nodes: [text] });
const string = fc.oneof({ weight: 6, arbitrary: characters }, longRun).map((inner) => leaf(`"${inner}"`));
// Few enough to meet twice in one object, each in several spellings. JSON.parse, which the tests compare with, takes some keys of
// one escaped character for others (nodejs/node#63785).
const key = fc
  .oneof(
    fc
      .constantFrom('model', 'm\\u006fdel', 'mode\\u006C', 'models', 'ab', '\\u0061b', '', '__proto__')
      .map((inner) => leaf(`"${inner}"`)),
    string,
  )
  .filter(({ text }) => !/^"\\(u....|[^u])"$/.test(text));
const scalar = fc.oneof(
  string,
  fc.constantFrom('true', 'false', 'null').map(leaf),
  fc.constantFrom('0', '-0', '1.0', '1e2', '-1.50E+3', '0.1e-7', '12345678901234567890', '1e400', '123.4560').map(leaf),
  fc.integer().map((value) => leaf(String(value))),
);

const { value } = fc.letrec<{ value: PrintedJson; array: PrintedJson; object: PrintedJson }>((tie) => ({
  value: fc.oneof({ maxDepth: 5, depthSize: 'medium' }, scalar, tie('array'), tie('object')),
  array: fc
    .tuple(space, fc.array(spaced(tie('value')), { maxLength: 5 }))
    .map(([empty, elements]) => contain('[', empty, elements, ']')),
  object: fc
    .tuple(
      space,
      fc.array(
        fc.tuple(spaced(key), spaced(tie('value'))).map(([name, member]) => ({
          text: `${name.text}:${member.text}`,
          nodes: [...name.nodes, ...member.nodes],
        })),
        { maxLength: 6 },
      ),
    )
    .map(([empty, members]) => contain('{', empty, members, '}')),
}));

function contain(open: string, empty: string, parts: readonly PrintedJson[], close: string): PrintedJson {
  const inner = parts.length === 0 ? empty : parts.map((part) => part.text).join(',');
  const text = open + inner + close;
  return { text, nodes: [text, ...parts.flatMap((part) => part.nodes)] };
}

/** Any JSON text: random white space, escapes, spellings of numbers and repeated keys. */
export const printedJson = spaced(value);

const splinter = fc.oneof(
  fc.constantFrom(...'{}[]",:\\\n\0 09.-+eEtfnu/\u00a0\ufeff\u2028', '\\u12', '00', 'NaN', '""', ',,', 'true', 'e+'),
  fc.string({ maxLength: 2 }),
);

/** JSON text with a few random cuts and insertions: sometimes still JSON, mostly not. */
export const brokenJson = fc
  .tuple(
    printedJson,
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 }), fc.oneof(fc.constant(''), splinter)), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([{ text }, changes]) =>
    changes.reduce((changed, [place, cut, put]) => {
      const at = place % (changed.length + 1);
      return changed.slice(0, at) + put + changed.slice(at + cut);
    }, text),
  );
