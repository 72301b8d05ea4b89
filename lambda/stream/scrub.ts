/**
 * Replaces names in texts, whole or cut into deltas. Positions and lengths count UTF-16 units. Throws a RangeError for a text
 * or delta with more names than anyone writes.
 */
export interface Scrubber {
  /** The first name that starts at or after `from`: a cheap test of long texts. */
  find(text: string, from?: number): Hit | undefined;
  scrub(text: string): string;
  /**
   * Opens a text that comes in deltas. If it is shown right after another text, `before` is that one's `tail`: a name that begins
   * there and ends here loses the part that is here. A name that is entirely here is replaced, whatever came before, unless this
   * text `continues` the same one: then a letter before it may make it a part of a word.
   */
  openChannel(before?: string, continues?: boolean): ScrubChannel;
  /** Compiles the pattern of channels ahead. Otherwise the first delta would wait 2 ms for it. */
  prepareChannels(): void;
}

interface Hit {
  readonly start: number;
  readonly end: number;
}

/** The results of every `push` and of `end`, joined, are what `scrub` makes of the whole text. */
export interface ScrubChannel {
  /** What may leave now: all but the end of the text, if that may be a name or become one. */
  push(delta: string): string;
  end(): string;
  /** The end of the text that is held back: at most the longest name and what may follow it. */
  readonly held: string;
  /** After `end`: the end of the unchanged text, as much of it as the next channel needs for its `before`. */
  readonly tail: string;
}

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

/** Ignores case. The leftmost match counts, and at one place the longest. Ignores blank names. */
export function createScrubber(names: readonly string[], replacement: string): Scrubber {
  const rules = createRules(names, replacement);
  const find = (text: string, from = 0): Hit | undefined => {
    rules.completeName.lastIndex = from;
    const match = rules.completeName.exec(text);
    return match ? { start: match.index, end: rules.completeName.lastIndex } : undefined;
  };
  return {
    find,
    scrub(text) {
      let out = '';
      let at = 0;
      let count = 0;
      // Not by `replace`, which collects all matches first.
      for (let hit = find(text); hit; hit = find(text, hit.end)) {
        limit(++count);
        out += text.slice(at, hit.start) + replacement;
        at = hit.end;
      }
      return at === 0 ? text : out + text.slice(at);
    },
    openChannel: (before = '', continues = false) => openChannel(rules, before, continues),
    // V8 compiles a pattern when it is first used.
    prepareChannels: () => void rules.openOrCompleteName.test(''),
  };
}

type Rules = ReturnType<typeof createRules>;

function createRules(names: readonly string[], replacement: string) {
  const longestFirst = names
    .filter((name) => name.trim() !== '' && name.isWellFormed())
    .sort((a, b) => b.length - a.length);
  const complete = longestFirst.map(completePattern).join('|') || nothing;
  let openOrComplete: RegExp | undefined;
  return {
    completeName: new RegExp(complete, 'giu'),
    /** Its first group is a name that the end of the text leaves open. Made once a text comes in deltas. */
    get openOrCompleteName() {
      const open = () => longestFirst.flatMap((name) => openPattern(name) || []).join('|') || nothing;
      openOrComplete ??= new RegExp(`(${open()})|${complete}`, 'giu');
      return openOrComplete;
    },
    // For a name that ends with the tail or after it, and for what is read on both sides of it.
    tailLength: (longestFirst[0]?.length ?? 0) + 2 * mostContext,
    replacement,
  };
}

/** A text of which a part has left. */
interface OpenText {
  text: string;
  /** All before this has left, or belongs to the text before. */
  released: number;
  /** No name that matters begins before this. */
  searched: number;
  /** Where this text begins, as long as a name may cross that. */
  border: number;
  /** The part of the text before that no name reaches over from. */
  past: string;
}

function openChannel(rules: Rules, before: string, continues: boolean): ScrubChannel {
  const text = before.slice(-rules.tailLength);
  const open: OpenText = { text, released: text.length, searched: 0, border: continues ? 0 : text.length, past: '' };
  let tail = text;
  return {
    push(delta) {
      open.text += delta;
      const out = release(open, rules.openOrCompleteName, rules.replacement);
      forget(open, rules.tailLength);
      return out;
    },
    end() {
      // A name may still reach over all of this text into the next.
      tail = (open.past + open.text).slice(-rules.tailLength);
      return release(open, rules.completeName, rules.replacement);
    },
    get held() {
      return open.text.slice(open.released);
    },
    get tail() {
      return tail;
    },
  };
}

function release(open: OpenText, pattern: RegExp, replacement: string): string {
  leaveTextBefore(open, pattern);
  const { text } = open;
  let out = '';
  let count = 0;
  pattern.lastIndex = open.searched;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const end = pattern.lastIndex;
    if (match[1] !== undefined) {
      out += text.slice(open.released, match.index);
      open.released = Math.max(open.released, match.index);
      open.searched = match.index;
      return out;
    }
    if (end <= open.released) {
      // It ends in the text before. A match that ends in this text may begin inside it, and counts: the tail may have cut
      // off the name that was really there.
      pattern.lastIndex = afterCharacter(text, match.index);
    } else {
      limit(++count);
      out += text.slice(open.released, match.index) + replacement;
      open.released = end;
      open.border = 0;
    }
  }
  out += text.slice(open.released);
  open.released = text.length;
  open.searched = text.length;
  return out;
}

/** Drops the text before as soon as no name can reach over from it. */
function leaveTextBefore(open: OpenText, pattern: RegExp): void {
  const { text, border } = open;
  if (border === 0 || text.length === border || crosses(open, pattern)) return;
  // A character that only ends in this text stays whole.
  const start = (text.codePointAt(border - 1) ?? 0) > 0xffff ? border - 1 : border;
  open.past = text.slice(0, start);
  open.text = text.slice(start);
  open.released = border - start;
  open.searched = 0;
  open.border = 0;
}

function crosses({ text, border, searched }: OpenText, pattern: RegExp): boolean {
  pattern.lastIndex = searched;
  for (let match = pattern.exec(text); match && match.index < border; match = pattern.exec(text)) {
    if (pattern.lastIndex > border) return true;
    pattern.lastIndex = afterCharacter(text, match.index);
  }
  return false;
}

function afterCharacter(text: string, at: number): number {
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

/** Keeps only the tail: what is held, and what is read before it, are never longer. */
function forget(open: OpenText, tailLength: number): void {
  const length = open.text.length - tailLength;
  if (length <= 0) return;
  open.text = open.text.slice(length);
  open.released -= length;
  open.searched -= length;
  open.border = Math.max(0, open.border - length);
}

/** Only an attacker puts so many names into one text: each takes many times its length in memory. */
const mostNames = 100_000;

function limit(names: number): void {
  if (names > mostNames) throw new RangeError(`a text holds more than ${mostNames} names`);
}

// Neither pattern of a name repeats anything, so no text makes them slow.

/** Matches a name. */
function completePattern(name: string): string {
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
