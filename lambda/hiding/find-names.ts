/** Where a name stands in a text. Positions count UTF-16 units. */
export interface Hit {
  readonly start: number;
  readonly end: number;
  /** Set if the end of the text may become a name, or a longer one. */
  readonly open?: string | undefined;
}

export type FindName = (text: string, from: number) => Hit | undefined;

// A short name must not match inside a word: `metadata` and `meta_key` do not hold the name `meta`. Words end at digits (`Qwen3`), at
// scripts without spaces (`我是glm，`), at an underline next to a digit (`glm_4`), and where small letters turn to capitals (`ChatGLM`).
const capital = '(?<=(?-i:\\p{Ll}))(?=(?-i:\\p{Lu}))';
const wordStart = `(?<!\\p{Script=Latin}(?!${capital})|(?<![0-9])_)`;
// A name may have a plural: `GLMs`.
const wordEnd = `(?=s?(?!(?!${capital})\\p{Script=Latin}|_(?![0-9])))`;
/** What is read before a name, and after it, to tell whether it is part of a word. */
const mostContext = 2;
// A short name that begins or ends with one of these may be part of a word; a name in another script matches anywhere.
const wordEdge = /[\p{Script=Latin}\p{N}_]/u;
const highSurrogate = '[\\uD800-\\uDBFF]';
const nothing = '(?!)';
/** In characters. V8 takes seconds to compile the beginnings of hundreds of keys, and nobody has more names than this otherwise. */
const mostInPattern = 1_000;

/**
 * What finds names: the leftmost counts, and at one place the longest. Ignores case, and blank names. If they have more characters
 * than `inPattern`, their beginnings are found without a pattern.
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
  /** Its first group is a name that the end of the text leaves open, unless `findOpen` finds it. Made once a text comes in deltas. */
  const openOrWholeName = () => {
    openOrWhole ??= new RegExp(`(${openPatterns()})|${whole}`, 'giu');
    return openOrWhole;
  };
  return {
    /** The first whole name that begins at this place or after it. */
    findWhole: (text: string, from: number) => nextHit(wholeName, text, from),
    /** The same, or what may become one. */
    findAny(text: string, from: number): Hit | undefined {
      const hit = nextHit(openOrWholeName(), text, from);
      return findOpen?.(text, from, hit?.start ?? text.length) ?? hit;
    },
    // V8 compiles a pattern when it is first used.
    prepareAny: () => void openOrWholeName().test(''),
    // For a name that ends with the tail or after it, and for what is read on both sides of it.
    tailLength: (longestFirst[0]?.length ?? 0) + 2 * mostContext,
  };
}

/** Long enough to stand inside a word, and ASCII, as keys are. */
const isPlain = (name: string): boolean => /^[ -~]{5,}$/.test(name);

function nextHit(pattern: RegExp, text: string, from: number): Hit | undefined {
  pattern.lastIndex = from;
  const match = pattern.exec(text);
  return match ? { start: match.index, end: pattern.lastIndex, open: match[1] } : undefined;
}

// Neither pattern of a name repeats anything, so no text makes them slow.

/** Matches a name. */
function wholePattern(name: string): string {
  const { left, right } = bordersOf(name);
  return `${left}${escapePattern(name)}${right}`;
}

/** Matches the end of a text that more text may turn into a name; empty if none may. */
function openPattern(name: string): string {
  const { left, right } = bordersOf(name);
  // As long as it is unknown, or only half known, how the word goes on, even a complete short name is open.
  let open = right && `s?(?:_|${highSurrogate})?$`;
  for (const [index, character] of [...[...name].entries()].reverse()) {
    const ways: string[] = [];
    if (index > 0) ways.push('$');
    // Upper and lower case of a character outside the basic plane have the same first half.
    if (character.length === 2) ways.push(`\\u${character.charCodeAt(0).toString(16)}$`);
    if (open) ways.push(`${escapePattern(character)}(?:${open})`);
    open = ways.join('|');
  }
  return open && `${left}(?:${open})`;
}

/** What must stand on either side of a short name. */
function bordersOf(name: string): { readonly left: string; readonly right: string } {
  const characters = [...name];
  const bounds = (character = '') => characters.length <= 4 && wordEdge.test(character);
  return { left: bounds(characters.at(0)) ? wordStart : '', right: bounds(characters.at(-1)) ? wordEnd : '' };
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** What folds to an ASCII letter, as in a pattern that ignores case. */
const folding = /[A-Z\u017f\u212a]/g;
const fold = (text: string) => text.replace(folding, (letter) => (letter === '\u017f' ? 's' : letter.toLowerCase()));

/** Finds the beginning of a plain name at the end of a text, not after `last`: without a pattern, which would be faster for a few. */
function createFindOpen(names: readonly string[]) {
  const sorted = names.filter(isPlain).map(fold).sort();
  // Rules out most places: keys begin alike.
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

/** The first text of an ordered list that comes after this one: if any is a longer one that begins with it, this is. */
function firstAfter(sorted: readonly string[], text: string): string | undefined {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') > text) high = middle;
    else low = middle + 1;
  }
  return sorted[low];
}
