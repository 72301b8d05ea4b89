/**
 * Replaces names in texts, whole or cut into deltas. Positions and lengths count UTF-16 units. Throws a RangeError at a
 * text, or a delta, that holds more names than anyone writes.
 */
export interface Scrubber {
  /** The first name that starts at or after `from`: a cheap test of long texts. */
  find(text: string, from?: number): Hit | undefined;
  scrub(text: string): string;
  /**
   * Opens a text that comes in deltas. Where it is shown right after another one, `before` is that one's `tail`: a name
   * that begins there and ends here loses the part that stands here. A name that stands wholly here is one whatever the
   * other ended with.
   */
  openChannel(before?: string): ScrubChannel;
}

export interface Hit {
  readonly start: number;
  readonly end: number;
}

/** The results of all `push` and the one `end`, joined, are what `scrub` makes of the whole text. */
export interface ScrubChannel {
  /** What may leave now: all but an end of the text that may still be, or become, a name. */
  push(delta: string): string;
  end(): string;
  /** The end of the text that waits: no longer than the longest name and one half of a character. */
  readonly held: string;
  /** After `end`: as much of the text's own end, names and all, as the next channel needs for its `before`. */
  readonly tail: string;
}

// What makes one word of a short name and its neighbour. Digits do not (`Qwen3`), nor do scripts without spaces (`我是glm，`).
const wordNeighbour = '[\\p{Script=Latin}_]';
// Where a short name begins or ends with one of these it may be part of a word; in another script it stands anywhere.
const wordEdge = /[\p{Script=Latin}\p{N}_]/u;
const highSurrogate = '[\\uD800-\\uDBFF]';
const nothing = '(?!)';

/** Case does not matter; the leftmost match counts, at one place the longest; blank names are no names. */
export function createScrubber(names: readonly string[], replacement: string): Scrubber {
  const patterns = names
    .filter((name) => name.trim() !== '' && name.isWellFormed())
    .sort((a, b) => b.length - a.length)
    .map((name) => ({ length: name.length, ...namePattern(name) }));
  const complete = patterns.map((pattern) => pattern.complete).join('|') || nothing;
  const open = patterns.flatMap((pattern) => pattern.open || []).join('|') || nothing;
  const completeName = new RegExp(complete, 'giu');
  const openOrCompleteName = new RegExp(`(${open})|${complete}`, 'giu');
  // A name that ends with a tail or after it, and the character before that name, which may be of two units.
  const tailLength = (patterns[0]?.length ?? 0) + 2;

  function find(text: string, from = 0): Hit | undefined {
    completeName.lastIndex = from;
    const match = completeName.exec(text);
    return match ? { start: match.index, end: completeName.lastIndex } : undefined;
  }

  function openChannel(before = ''): ScrubChannel {
    let text = before.slice(-tailLength);
    let released = text.length; // all before this has left, or was never ours to send
    let searched = 0; // no name that matters begins before this
    let past = ''; // of the text before, what no name reaches over from
    let tail = text;
    let border = text.length; // where our own text begins, as long as a name may stand across

    /** Leaves the text before ours alone as soon as no name can reach over from it. */
    function part(pattern: RegExp): void {
      if (border === 0 || text.length === border || crosses(pattern)) return;
      // A character of which we have but the second half stays whole.
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
          // It ends in the text before ours. One that ends in ours may begin inside it, and count: the tail may have cut off
          // the name that really stood there.
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

    /** Keeps the tail only: what is held is never longer, and where it fills the tail, what stood before is no letter. */
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
        // A name may still reach over the whole of our text, into that of the next.
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

/** Who names someone this often in one text does it to fill memory: each takes many times its length. */
const mostNames = 100_000;

function limit(names: number): void {
  if (names > mostNames) throw new RangeError(`a text holds more than ${mostNames} names`);
}

/**
 * The patterns of a name: `complete` matches it, `open` the end of a text that more text may turn into it. Both look
 * at a text's own characters only and repeat nothing, so no text makes them slow.
 */
function namePattern(name: string): { readonly complete: string; readonly open: string } {
  const characters = [...name];
  const short = characters.length <= 4;
  // A short name must not stand inside a word.
  const left = short && wordEdge.test(characters.at(0) ?? '') ? `(?<!${wordNeighbour})` : '';
  const right = short && wordEdge.test(characters.at(-1) ?? '') ? `(?!${wordNeighbour})` : '';
  // With its right neighbour unknown, or known by half, even the whole of such a name is open.
  let open = right && `$|${highSurrogate}$`;
  for (const [index, character] of [...characters.entries()].reverse()) {
    const ways: string[] = [];
    if (index > 0) ways.push('$');
    // All cases of a character outside the basic plane share its first half.
    if (character.length === 2) ways.push(`\\u${character.charCodeAt(0).toString(16)}$`);
    if (open) ways.push(`${escapePattern(character)}(?:${open})`);
    open = ways.join('|');
  }
  return { complete: `${left}${escapePattern(name)}${right}`, open: open && `${left}(?:${open})` };
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
