/** A match of a name in a text. Positions count UTF-16 units. */
export interface Hit {
  readonly start: number;
  readonly end: number;
  /** Set if the end of the text may become a name, or a longer one. */
  readonly open?: string | undefined;
}

export type FindName = (text: string, from: number) => Hit | undefined;

// A short name must not match inside a word: `metadata` and `meta_key` don't contain the name `meta`. Words end at digits (`Qwen3`), at
// scripts without spaces (`我是glm，`), at an underscore next to a digit (`glm_4`), and where lower case turns to upper (`ChatGLM`).
const capital = '(?<=(?-i:\\p{Ll}))(?=(?-i:\\p{Lu}))';
const wordStart = `(?<!\\p{Script=Latin}(?!${capital})|(?<![0-9])_)`;
/** Words begin behind both, but not behind the underscore alone. */
export const digitAndUnderscore = /^[0-9]_/;
// A name may have a plural: `GLMs`.
const wordEnd = `(?=s?(?!(?!${capital})\\p{Script=Latin}|_(?![0-9])))`;
/** The characters before and after a name that decide whether it is part of a word. */
const mostContext = 2;
// A short name that begins or ends with one of these may be part of a word. A name in another script matches anywhere.
const wordEdge = /[\p{Script=Latin}\p{N}_]/u;
const highSurrogate = '[\\uD800-\\uDBFF]';
const nothing = '(?!)';
/** In characters. Only somebody with hundreds of keys has more, and V8 would take seconds to compile the pattern for their prefixes. */
const mostInPattern = 1_000;

/**
 * Finds names: the leftmost match wins, and the longest of those at one place. Ignores case, and blank names. If the names have more than
 * `inPattern` characters, their prefixes are found by binary search instead of a pattern.
 */
export function createNameFinder(names: readonly string[], inPattern = mostInPattern) {
  const longestFirst = names
    .filter((name) => name.trim() !== '' && name.isWellFormed())
    .sort((a, b) => b.length - a.length);
  const whole = longestFirst.map(wholePattern).join('|') || nothing;
  const wholeName = new RegExp(whole, 'giu');
  const findOpen = longestFirst.join('').length > inPattern ? createFindOpen(longestFirst) : undefined;
  const openPatterns = () => {
    const others = findOpen ? longestFirst.filter((name) => !isPlain(name)) : longestFirst;
    return others.flatMap((name) => openPattern(name) || []).join('|') || nothing;
  };
  let openOrWhole: RegExp | undefined;
  /** The first group matches a name that the end of the text may cut off, unless `findOpen` finds it. Lazy: only deltas need it. */
  const openOrWholeName = () => {
    openOrWhole ??= new RegExp(`(${openPatterns()})|${whole}`, 'giu');
    return openOrWhole;
  };
  return {
    /** The first whole name at or after `from`. */
    findWhole: (text: string, from: number) => nextHit(wholeName, text, from),
    /** The first whole name, or prefix of one at the end of the text. */
    findAny(text: string, from: number): Hit | undefined {
      const hit = nextHit(openOrWholeName(), text, from);
      return findOpen?.(text, from, hit?.start ?? text.length) ?? hit;
    },
    // V8 compiles a pattern on its first use.
    prepareAny: () => void openOrWholeName().test(''),
    // Room for the longest name, and for the context on both sides of it.
    tailLength: (longestFirst[0]?.length ?? 0) + 2 * mostContext,
  };
}

/** Long enough to match inside a word, and ASCII, as keys are. */
const isPlain = (name: string): boolean => /^[ -~]{5,}$/.test(name);

function nextHit(pattern: RegExp, text: string, from: number): Hit | undefined {
  pattern.lastIndex = from;
  const match = pattern.exec(text);
  return match ? { start: match.index, end: pattern.lastIndex, open: match[1] } : undefined;
}

// Neither pattern has a repetition, so no text makes them slow.

function wholePattern(name: string): string {
  const { left, right } = bordersOf(name);
  return `${left}${escapePattern(name)}${right}`;
}

/** Matches the end of a text that may become a name with more text; empty if it can't. */
function openPattern(name: string): string {
  const { left, right } = bordersOf(name);
  // Until the next character is known, surrogate pairs included, even a complete short name is open.
  let open = right && `s?(?:_|${highSurrogate})?$`;
  for (const [index, character] of [...[...name].entries()].reverse()) {
    const ways: string[] = [];
    if (index > 0) ways.push('$');
    // Upper and lower case of a character outside the basic plane share the high surrogate.
    if (character.length === 2) ways.push(`\\u${character.charCodeAt(0).toString(16)}$`);
    if (open) ways.push(`${escapePattern(character)}(?:${open})`);
    open = ways.join('|');
  }
  return open && `${left}(?:${open})`;
}

/** The lookarounds on either side of a short name. */
function bordersOf(name: string): { readonly left: string; readonly right: string } {
  const characters = [...name];
  const bounds = (character = '') => characters.length <= 4 && wordEdge.test(character);
  return { left: bounds(characters.at(0)) ? wordStart : '', right: bounds(characters.at(-1)) ? wordEnd : '' };
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** The characters that a case-insensitive pattern folds to an ASCII letter. */
const folding = /[A-Z\u017f\u212a]/g;
const fold = (text: string) => text.replace(folding, (letter) => (letter === '\u017f' ? 's' : letter.toLowerCase()));

/** Finds the prefix of a plain name at the end of a text, starting no later than `last`. For few names a pattern is faster. */
function createFindOpen(names: readonly string[]) {
  const sorted = names.filter(isPlain).map(fold).sort();
  // Rules out most places, since keys begin alike.
  const begins = new Set(sorted.map((name) => name.charAt(0)));
  const longest = Math.max(0, ...sorted.map((name) => name.length));
  return (text: string, from: number, last: number): Hit | undefined => {
    const begin = Math.max(from, text.length - longest + 1);
    if (begin > last) return undefined;
    const tail = fold(text.slice(begin));
    for (let at = 0; at < tail.length && begin + at <= last; at += 1) {
      if (!begins.has(tail.charAt(at))) continue;
      const open = tail.slice(at);
      if (firstAfter(sorted, open)?.startsWith(open)) return { start: begin + at, end: text.length, open };
    }
    return undefined;
  };
}

/** Binary search for the first entry after this text. If any entry continues the text, this one does. */
function firstAfter(sorted: readonly string[], text: string): string | undefined {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') > text) high = middle;
    else low = middle + 1;
  }
  return sorted[low];
}
