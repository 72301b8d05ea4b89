import { createNameFinder, digitAndUnderscore, type FindName, type Hit } from './find-names.ts';

/**
 * Replaces names in texts, whole or in deltas. Positions and lengths count UTF-16 units. Throws a RangeError for a text or delta
 * with more names than anybody writes.
 */
export interface Scrubber {
  readonly names: readonly string[];
  /** The first name at or after `from`: a cheap test for long texts. */
  find(text: string, from?: number): Hit | undefined;
  scrub(text: string): string;
  /**
   * Opens a text that comes in deltas. If a client may show it right after another text, `before` is the `tail` of that one: if a name
   * straddles the border, its part in this text is replaced. With `continues` both are one text, so that a word may cross the border.
   */
  openChannel(before?: string, continues?: boolean): ScrubChannel;
  /** Compiles the pattern for deltas ahead of time. Otherwise the first delta would wait 2 ms for it. */
  prepareChannels(): void;
}

/** The results of every `push` and of `end`, joined, equal `scrub` of the whole text. */
export interface ScrubChannel {
  /** Returns the text that can go out now: everything but an end that is, or may become, a name. */
  push(delta: string): string;
  end(): string;
  /** The end of the text that is held back: at most the longest name and its context. */
  readonly held: string;
  /** After `end`: as much of the end of the original text as the next channel needs for its `before`. */
  readonly tail: string;
  readonly isChanged: boolean;
}

/** `inPattern`: see `createNameFinder`. */
export function createScrubber(names: readonly string[], replacement: string, inPattern?: number): Scrubber {
  const { findWhole, findAny, prepareAny, tailLength } = createNameFinder(names, inPattern);
  const rules = { findWhole, findAny, tailLength, replacement };
  const find = (text: string, from = 0) => findWhole(text, from);
  return {
    names,
    find,
    scrub(text) {
      let out = '';
      let at = 0;
      let count = 0;
      // Not `replace`, which collects all matches first.
      for (let hit = find(text); hit; hit = find(text, hit.end)) {
        limit(++count);
        out += text.slice(at, hit.start) + replacement;
        at = hit.end;
      }
      return at === 0 ? text : out + text.slice(at);
    },
    openChannel: (before = '', continues = false) => openChannel(rules, before, continues),
    prepareChannels: prepareAny,
  };
}

/** A text in deltas, part of which has gone out. */
interface OpenText {
  text: string;
  /** Everything before this offset has gone out, or belongs to the previous text. */
  released: number;
  /** No name that matters begins before this offset. */
  searched: number;
  /** Where this text begins, as long as a name may cross from the previous one; then 0. */
  border: number;
  /** The part of the previous text from which no name can reach over. */
  past: string;
  isChanged: boolean;
}

interface Rules extends Omit<ReturnType<typeof createNameFinder>, 'prepareAny'> {
  readonly replacement: string;
}

function openChannel(rules: Rules, before: string, continues: boolean): ScrubChannel {
  const text = before.slice(-rules.tailLength);
  const open: OpenText = {
    text,
    released: text.length,
    searched: 0,
    border: continues ? 0 : text.length,
    past: '',
    isChanged: false,
  };
  let tail = text;
  return {
    push(delta) {
      open.text += delta;
      const out = release(open, rules.findAny, rules.replacement);
      forget(open, rules.tailLength);
      return out;
    },
    end() {
      // A name may still span all of this text and continue in the next.
      tail = (open.past + open.text).slice(-rules.tailLength);
      return release(open, rules.findWhole, rules.replacement);
    },
    get held() {
      return open.text.slice(open.released);
    },
    get tail() {
      return tail;
    },
    get isChanged() {
      return open.isChanged;
    },
  };
}

function release(open: OpenText, findName: FindName, replacement: string): string {
  leaveTextBefore(open, findName);
  const { text } = open;
  let out = '';
  let count = 0;
  for (let hit = findName(text, open.searched), next = 0; hit; hit = findName(text, next)) {
    const { start, end } = hit;
    if (hit.open !== undefined) {
      out += text.slice(open.released, start);
      open.released = Math.max(open.released, start);
      open.searched = start;
      return out;
    }
    next = end;
    if (end <= open.released) {
      // The match ends in the previous text. Another match may begin inside it and end in this text. That one counts, as this one may be
      // no real match: `before` holds only the tail of the previous text.
      next = afterCharacter(text, start);
    } else {
      limit(++count);
      out += text.slice(open.released, start) + replacement;
      open.released = end;
      open.border = 0;
      open.isChanged = true;
    }
  }
  out += text.slice(open.released);
  open.released = text.length;
  open.searched = text.length;
  return out;
}

/** Drops the previous text as soon as no name can reach over from it. */
function leaveTextBefore(open: OpenText, findName: FindName): void {
  const { text, border } = open;
  if (border === 0 || text.length === border || crosses(open, findName)) return;
  // Don't split a surrogate pair that ends in this text, nor take the digit from an underscore.
  const isBound = (text.codePointAt(border - 1) ?? 0) > 0xffff || digitAndUnderscore.test(text.slice(border - 1));
  const start = isBound ? border - 1 : border;
  open.past = text.slice(0, start);
  open.text = text.slice(start);
  open.released = border - start;
  open.searched = 0;
  open.border = 0;
}

function crosses({ text, border, searched }: OpenText, findName: FindName): boolean {
  let hit = findName(text, searched);
  for (; hit && hit.start < border; hit = findName(text, afterCharacter(text, hit.start))) {
    if (hit.end > border) return true;
  }
  return false;
}

function afterCharacter(text: string, at: number): number {
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

/** Keeps only the tail, which is long enough for what is held back and the context before it. */
function forget(open: OpenText, tailLength: number): void {
  const length = open.text.length - tailLength;
  if (length <= 0) return;
  open.text = open.text.slice(length);
  open.released -= length;
  open.searched -= length;
  open.border = Math.max(0, open.border - length);
}

/** Only an attacker puts so many names into one text. Each takes many times its length in memory. */
const mostNames = 100_000;

function limit(names: number): void {
  if (names > mostNames) throw new RangeError(`a text holds more than ${mostNames} names`);
}
