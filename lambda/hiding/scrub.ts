import { createNameFinder, type FindName, type Hit } from './find-names.ts';

/**
 * Replaces names in texts, whole or cut into deltas. Positions and lengths count UTF-16 units. Throws a RangeError for a text
 * or delta with more names than anyone writes.
 */
export interface Scrubber {
  /** What it hides. */
  readonly names: readonly string[];
  /** The first name that starts at or after `from`: a cheap test of long texts. */
  find(text: string, from?: number): Hit | undefined;
  scrub(text: string): string;
  /**
   * Opens a text that comes in deltas. If it is shown right after another text, `before` is that one's `tail`, to look behind: of a
   * name that straddles the border, the part in this text is removed. With `continues` both are one text: what is a word is decided
   * across the border too.
   */
  openChannel(before?: string, continues?: boolean): ScrubChannel;
  /** Compiles the pattern of channels ahead. Otherwise the first delta would wait 2 ms for it. */
  prepareChannels(): void;
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
  /** Whether a name was replaced. */
  readonly isChanged: boolean;
}

/** Names with more characters than `inPattern` are found in another way. */
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
      // Not by `replace`, which collects all matches first.
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
      // A name may still reach over all of this text into the next.
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
      // It ends in the text before. A match that ends in this text may begin inside it, and counts: the tail may have cut
      // off the name that was really there.
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

/** Drops the text before as soon as no name can reach over from it. */
function leaveTextBefore(open: OpenText, findName: FindName): void {
  const { text, border } = open;
  if (border === 0 || text.length === border || crosses(open, findName)) return;
  // A character that only ends in this text stays whole.
  const start = (text.codePointAt(border - 1) ?? 0) > 0xffff ? border - 1 : border;
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
