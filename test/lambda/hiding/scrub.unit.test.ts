import { describe, expect, test } from '@jest/globals';
import { createScrubber, type Scrubber } from '../../../lambda/hiding/scrub.ts';
import fc, { cut, many } from '../../support/properties.ts';
import { testRows } from '../../support/test-rows.ts';

function scrubCut(scrubber: Scrubber, deltas: readonly string[], before?: string): string {
  const channel = scrubber.openChannel(before);
  return deltas.map((delta) => channel.push(delta)).join('') + channel.end();
}

describe('whole texts', () => {
  const cases: [title: string, names: string[], text: string, expected: string][] = [
    ['as Unicode folds it', ['skelvin'], 'ſ\u212aelvin', '#'],
    [
      'the longest name wins',
      ['thunder', 'thunder-2', 'thunder-2-max'],
      'thunder-2-max thunder-2-mini thunder-3',
      '# #-mini #-3',
    ],
    [
      'short names do not',
      ['meta'],
      'meta metadata METADATA _meta meta_key méta ÉMETA meta-data (meta).',
      '# metadata METADATA _meta meta_key méta ÉMETA #-data (#).',
    ],
    [
      'words end where small letters turn to capitals',
      ['glm', 'kimi', 'meta'],
      'ChatGLM KimiK2 getMetaData éGLM CHATGLM KIMIK chatglm GLMv glmé',
      'Chat# #K2 get#Data é# CHATGLM KIMIK chatglm GLMv glmé',
    ],
    [
      'and at an underline next to a digit',
      ['glm'],
      'glm_4 glm_4b 4_glm glm_v glm_ v_glm _4glm glm__4',
      '#_4 #_4b 4_# glm_v glm_ v_glm _4# glm__4',
    ],
    [
      'a plural is no other word',
      ['glm'],
      'GLMs GLMS. glms_4 glmsX glmss glms_x glmsx',
      '#s #S. #s_4 #sX glmss glms_x glmsx',
    ],
    [
      'nor do letters of other scripts',
      ['glm'],
      '我是glm，GLM모델 がGLMが ไทยglmไทย яglmя λGLM 𝐀glm',
      '我是#，#모델 が#が ไทย#ไทย я#я λ# 𝐀#',
    ],
    [
      'a name in another script stands anywhere',
      ['通义', 'ぐら', '통의', 'ยา'],
      '我用通义千问a通义b 통의가 ยาว xยา_',
      '我用#千问a#b #가 #ว x#_',
    ],
    [
      'signs of regular expressions are text',
      ['a+b(c)[d]', '^x.y$|z', 'q\\d{2}/*?'],
      'A+B(C)[D] ^X.Y$|Z q\\d{2}/*? aab',
      '# # # aab',
    ],
    ['the first name wins', ['thunder', 'hunder-2'], 'thunder-2 hunder-2', '#-2 #'],
    ['blank names are none', ['', ' ', '\t\n'], 'a b\t\nc', 'a b\t\nc'],
  ];
  testRows(cases)('however they are split', (_, names, text, expected) => {
    for (const inPattern of [undefined, 0]) {
      const scrubber = createScrubber(names, '#', inPattern);
      expect(scrubber.scrub(text)).toBe(expected);
      for (let first = 0; first <= text.length; first++) {
        expect(scrubCut(scrubber, cut(text, [first, first]))).toBe(expected);
      }
      expect(scrubCut(scrubber, text.split(''))).toBe(expected);
    }
  });

  test('a replacement is neither scanned nor treated as a pattern', () => {
    const scrubber = createScrubber(['acmecorp', 'ivory-tower'], '$& acmecorp $1');
    expect(scrubber.scrub('Ivory-Tower')).toBe('$& acmecorp $1');
    expect(scrubCut(scrubber, ['Ivory', '-Tower'])).toBe('$& acmecorp $1');
  });
});

test('a text with more names than anybody needs is refused', () => {
  const scrubber = createScrubber(['acmecorp'], 'svc');
  expect(scrubber.scrub('acmecorp '.repeat(100_000))).toBe('svc '.repeat(100_000));
  expect(() => scrubber.scrub('acmecorp '.repeat(100_001))).toThrow('a text holds more than 100000 names');
});

describe('blocks that a client shows one after the other', () => {
  const blocks = (names: string[], ...texts: string[]) => {
    const scrubber = createScrubber(names, '#');
    let before: string | undefined;
    return texts.map((text) => {
      const channel = scrubber.openChannel(before);
      const out =
        text
          .split('')
          .map((delta) => channel.push(delta))
          .join('') + channel.end();
      before = channel.tail;
      return out;
    });
  };
  testRows<[what: string, names: string[], texts: string[], expected: string[]]>([
    ['a name over three', ['thunder'], ['a thun', 'd', 'er b'], ['a thun', 'd', '# b']],
    ['a name that begins inside a complete one', ['abcde', 'de fgh'], ['abcde', ' fgh'], ['#', '#']],
    [
      'a name that begins in what is left of another',
      ['ppqrst', 'rstuv', 'uvwxyz'],
      ['ppqrstuv', 'wxyz'],
      ['#uv', '#'],
    ],
    ['a word that began in the middle of a character', ['meta'], ['\ud837', '\udf00meta'], ['\ud837', '\udf00meta']],
    ['a name behind a digit and an underscore', ['glm'], ['x1', '_glm'], ['x1', '_#']],
    ['half a character before', ['😀-acme'], ['\ud83d', '\ude00-acme'], ['\ud83d', '#']],
    ['a beginning that comes to nothing, then a name', ['thunderx', 'derby'], ['thun', 'derby'], ['thun', '#']],
  ])('show no name, nor spoil one another', (_, names, texts, expected) =>
    expect(blocks(names, ...texts)).toEqual(expected),
  );
});

test('the letter before a name at the end of a text is seen, even if it is a surrogate pair', () => {
  const before = createScrubber(['a'], '#').openChannel();
  before.push('b\u{1df00}a');
  before.end();
  const channel = createScrubber(['a'], '#').openChannel(before.tail);
  expect([channel.push('\ud83d'), channel.held]).toEqual(['\ud83d', '']);
});

describe('any names in any text', () => {
  const alphabet = [...'abcsAéK😀-. '];
  const name = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength: 7 });
  const foreign = [...'3字яÉ\u212aſkBS_1𝐀😁\u{1df00}', '_1', '1_', '\ud837', '\ud83d', '\ude00', '\ud835'];
  const offsets = fc.array(fc.nat(1000), { maxLength: 12 });

  /** Texts full of names, their prefixes and suffixes, and lookalikes. */
  const textWithNames = fc.array(name, { maxLength: 5 }).chain((names) => {
    const part = fc.tuple(fc.constantFrom('a', ...names), fc.nat(12), fc.nat(12));
    const piece = fc.oneof(
      fc.constantFrom(...alphabet, ...foreign),
      fc.constantFrom('b', ...names),
      part.map(([text, start, length]) => text.slice(start, start + length)),
    );
    return fc.record({
      names: fc.constant(names),
      text: fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join('')),
      offsets,
    });
  });

  test('a whole text is scrubbed as by the reference implementation', () => {
    fc.assert(
      fc.property(textWithNames, ({ names, text }) => {
        const scrubber = createScrubber(names, '#');
        const [out, , hits] = scrubSlowly(names, text, { final: true });
        expect(scrubber.scrub(text)).toBe(out);
        expect(scrubber.find(text)).toEqual(hits[0]);
      }),
      { numRuns: many(300) },
    );
  });

  test('deltas give the same, and hold back no more than necessary, also across blocks', () => {
    fc.assert(
      fc.property(textWithNames, offsets, ({ names, text, offsets }, deltaOffsets) => {
        const scrubbers = [undefined, 0].map((inPattern) => createScrubber(names, '#', inPattern));
        const tails: (string | undefined)[] = [];
        let before = '';
        for (const block of cut(text, offsets.slice(0, 4))) {
          const deltas = cut(block, deltaOffsets);
          const seen = deltas.map((_, at) => deltas.slice(0, at + 1).join(''));
          const due = seen.map((one) => scrubSlowly(names, one, { final: false, before }).slice(0, 2));
          const [whole] = scrubSlowly(names, block, { final: true, before });
          const after = before + block;
          for (const [at, scrubber] of scrubbers.entries()) {
            const channel = scrubber.openChannel(tails[at]);
            let out = '';
            const told = deltas.map((delta) => {
              out += channel.push(delta);
              return [out, channel.held];
            });
            expect(told).toEqual(due);
            expect(Math.max(...told.map(([, held = '']) => held.length))).toBeLessThanOrEqual(longest(names) + 2);
            const shown = out + channel.end();
            expect([shown, channel.isChanged]).toEqual([whole, whole !== block]);
            tails[at] = channel.tail;
            expect(after.endsWith(channel.tail) && channel.tail.length <= longest(names) + 4).toBe(true);
          }
          before = after;
        }
      }),
      { numRuns: many(300) },
    );
  });

  const longest = (names: readonly string[]) => Math.max(0, ...names.map((one) => one.length));
});

interface Manner {
  /** Whether the text is complete, or may continue. */
  readonly final: boolean;
  readonly before?: string;
}

/** The reference implementation, character by character: what goes out, what is held, and the hits. */
function scrubSlowly(
  names: readonly string[],
  text: string,
  manner: Manner,
): [string, string, { start: number; end: number }[]] {
  const before = manner.before ?? '';
  const whole = before + text;
  const usable = names.filter((name) => /\S/u.test(name)).map((name) => [...name]);
  const hits: { start: number; end: number }[] = [];
  let out = '';
  let released = before.length;
  const releaseTo = (end: number) => {
    if (end > released) out += whole.slice(released, end);
    released = Math.max(released, end);
  };
  const characters = [...whole];
  for (let start = 0, place = 0; place < characters.length; ) {
    const begins = start === before.length;
    const states = usable.map((name) => stateOf(name, characters, place, begins, manner.final));
    if (states.includes('open')) {
      releaseTo(start);
      return [out, whole.slice(released), hits];
    }
    const complete = usable.filter((_, index) => states[index] === 'complete');
    const [name = []] = complete.sort((a, b) => b.length - a.length);
    const end = start + name.join('').length;
    if (end > released && name.length > 0) {
      releaseTo(start);
      out += '#';
      released = end;
      hits.push({ start, end });
      start = end;
      place += name.length;
    } else {
      start += characters[place]?.length ?? 0;
      place += 1;
    }
  }
  releaseTo(whole.length);
  return [out, '', hits];
}

/** Whether a name matches at this place in a text. */
function stateOf(
  name: readonly string[],
  characters: readonly string[],
  place: number,
  begins: boolean,
  final: boolean,
): 'complete' | 'open' | 'no' {
  const isLast = (index: number) => place + index === characters.length - 1;
  const short = name.length <= 4;
  const wordBefore = characters.slice(begins ? place : 0, place).reverse();
  if (short && hasWordEdge(name[0]) && goesOn(wordBefore, turnsToCapital(wordBefore[0], characters[place])))
    return 'no';
  for (const [index, character] of name.entries()) {
    const found = characters[place + index];
    if (found === undefined) return final ? 'no' : 'open';
    if (foldsTo(found, character)) continue;
    const half = isLast(index) && character.length === 2 && character[0] === found;
    return half && !final ? 'open' : 'no';
  }
  if (!short || !hasWordEdge(name.at(-1))) return 'complete';
  const last = characters[place + name.length - 1];
  const after = characters.slice(place + name.length);
  if (!final && /^s?(_|[\ud800-\udbff])?$/iu.test(after.join(''))) return 'open';
  const [plural, ...afterPlural] = after;
  const endsInPlural = foldsTo(plural ?? '', 's') && !goesOn(afterPlural, turnsToCapital(plural, afterPlural[0]));
  return endsInPlural || !goesOn(after, turnsToCapital(last, after[0])) ? 'complete' : 'no';
}

/** Whether a word continues with these characters, the nearest first. */
function goesOn([nearest, next]: readonly string[], turns: boolean): boolean {
  if (nearest === '_') return !/^[0-9]$/.test(next ?? '');
  return makesWord(nearest) && !turns;
}

function turnsToCapital(before = '', after = ''): boolean {
  return /^\p{Ll}$/u.test(before) && /^\p{Lu}$/u.test(after);
}

function foldsTo(a: string, b: string): boolean {
  return a === b || a.toLowerCase() === b.toLowerCase() || a.toUpperCase() === b.toUpperCase();
}

/** Whether a character makes a word of a short name beside it. */
function makesWord(character = ' '): boolean {
  return /^(\p{Script=Latin}|_)$/u.test(character);
}

/** Whether a short name that begins or ends with this character must end at a word border. */
function hasWordEdge(character = ' '): boolean {
  return makesWord(character) || /^\p{Number}$/u.test(character);
}
