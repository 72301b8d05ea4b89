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
}

export interface Hit {
  readonly start: number;
  readonly end: number;
}

/** The results of every `push` and of `end`, joined, are what `scrub` makes of the whole text. */
export interface ScrubChannel {
  /** What may leave now: all but the end of the text, if that may be a name or become one. */
  push(delta: string): string;
  end(): string;
  /** The end of the text that is held back: at most the longest name and half a character. */
  readonly held: string;
  /** After `end`: the end of the unchanged text, as much of it as the next channel needs for its `before`. */
  readonly tail: string;
}

// A neighbour that makes a short name part of a word. Digits (`Qwen3`) and scripts without spaces (`我是glm，`) don't.
const wordNeighbour = '[\\p{Script=Latin}_]';
// A short name that begins or ends with one of these may be part of a word; a name in another script matches anywhere.
const wordEdge = /[\p{Script=Latin}\p{N}_]/u;
const highSurrogate = '[\\uD800-\\uDBFF]';
const nothing = '(?!)';

/** Ignores case. The leftmost match counts, and at one place the longest. Ignores blank names. */
export function createScrubber(names: readonly string[], replacement: string): Scrubber {
  const patterns = names
    .filter((name) => name.trim() !== '' && name.isWellFormed())
    .sort((a, b) => b.length - a.length)
    .map((name) => ({ length: name.length, ...namePattern(name) }));
  const complete = patterns.map((pattern) => pattern.complete).join('|') || nothing;
  const open = patterns.flatMap((pattern) => pattern.open || []).join('|') || nothing;
  const completeName = new RegExp(complete, 'giu');
  const openOrCompleteName = new RegExp(`(${open})|${complete}`, 'giu');
  // Room for a name that ends with the tail or after it, and for the character before, which may have two units.
  const tailLength = (patterns[0]?.length ?? 0) + 2;

  function find(text: string, from = 0): Hit | undefined {
    completeName.lastIndex = from;
    const match = completeName.exec(text);
    return match ? { start: match.index, end: completeName.lastIndex } : undefined;
  }

  function openChannel(before = '', continues = false): ScrubChannel {
    let text = before.slice(-tailLength);
    let released = text.length; // all before this has left, or belongs to the text before
    let searched = 0; // no name that matters begins before this
    let past = ''; // the part of the text before that no name reaches over from
    let tail = text;
    let border = continues ? 0 : text.length; // where this text begins, as long as a name may cross that

    /** Parts with the text before as soon as no name can reach over from it. */
    function part(pattern: RegExp): void {
      if (border === 0 || text.length === border || crosses(pattern)) return;
      // A character that only ends in this text stays whole.
      const start = (text.codePointAt(border - 1) ?? 0) > 0xffff ? border - 1 : border;
      past = text.slice(0, start);
      text = text.slice(start);
      released = border - start;
      searched = 0;
      border = 0;
    }

    function crosses(pattern: RegExp): boolean {
      pattern.lastIndex = searched;
      for (let match = pattern.exec(text); match && match.index < border; match = pattern.exec(text)) {
        if (pattern.lastIndex > border) return true;
        pattern.lastIndex = afterCharacter(match.index);
      }
      return false;
    }

    function afterCharacter(at: number): number {
      return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
    }

    function release(pattern: RegExp): string {
      part(pattern);
      let out = '';
      let names = 0;
      pattern.lastIndex = searched;
      for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
        const end = pattern.lastIndex;
        if (match[1] !== undefined) {
          out += text.slice(released, match.index);
          released = Math.max(released, match.index);
          searched = match.index;
          return out;
        }
        if (end <= released) {
          // It ends in the text before. A match that ends in this text may begin inside it, and counts: the tail may have cut
          // off the name that was really there.
          pattern.lastIndex = afterCharacter(match.index);
        } else {
          limit(++names);
          out += text.slice(released, match.index) + replacement;
          released = end;
          border = 0;
        }
      }
      out += text.slice(released);
      released = text.length;
      searched = text.length;
      return out;
    }

    /** Keeps only the tail: what is held is never longer, and if it fills the tail, the character before it is no letter. */
    function forget(): void {
      const length = text.length - tailLength;
      if (length <= 0) return;
      text = text.slice(length);
      released -= length;
      searched -= length;
      border = Math.max(0, border - length);
    }

    return {
      push(delta) {
        text += delta;
        const out = release(openOrCompleteName);
        forget();
        return out;
      },
      end() {
        // A name may still reach over all of this text into the next.
        tail = (past + text).slice(-tailLength);
        return release(completeName);
      },
      get held() {
        return text.slice(released);
      },
      get tail() {
        return tail;
      },
    };
  }

  function scrub(text: string): string {
    let out = '';
    let at = 0;
    let names = 0;
    for (let hit = find(text); hit; hit = find(text, hit.end)) {
      limit(++names);
      out += text.slice(at, hit.start) + replacement;
      at = hit.end;
    }
    return at === 0 ? text : out + text.slice(at);
  }

  return { find, scrub, openChannel };
}

/** Only an attacker puts so many names into one text: each takes many times its length in memory. */
const mostNames = 100_000;

function limit(names: number): void {
  if (names > mostNames) throw new RangeError(`a text holds more than ${mostNames} names`);
}

/**
 * The patterns of a name: `complete` matches it, `open` matches the end of a text that more text may turn into it. Neither
 * repeats anything, so no text makes them slow.
 */
function namePattern(name: string): { readonly complete: string; readonly open: string } {
  const characters = [...name];
  const short = characters.length <= 4;
  // A short name must not match inside a word.
  const left = short && wordEdge.test(characters.at(0) ?? '') ? `(?<!${wordNeighbour})` : '';
  const right = short && wordEdge.test(characters.at(-1) ?? '') ? `(?!${wordNeighbour})` : '';
  // As long as its right neighbour is unknown, or only half known, even a complete short name is open.
  let open = right && `$|${highSurrogate}$`;
  for (const [index, character] of [...characters.entries()].reverse()) {
    const ways: string[] = [];
    if (index > 0) ways.push('$');
    // Upper and lower case of a character outside the basic plane have the same first half.
    if (character.length === 2) ways.push(`\\u${character.charCodeAt(0).toString(16)}$`);
    if (open) ways.push(`${escapePattern(character)}(?:${open})`);
    open = ways.join('|');
  }
  return { complete: `${left}${escapePattern(name)}${right}`, open: open && `${left}(?:${open})` };
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
