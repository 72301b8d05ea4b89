import {
  codeAt,
  faultInNumber,
  faultInString,
  JsonFault,
  quote,
  skipSpace,
  skipWord,
  trySkipNumber,
  trySkipString,
} from './tokens.ts';

export const maxDepth = 10_000;

/** The values and keys of a text in the order in which they start. */
export interface Tape {
  /** Two cells each: the start, above two bits for flags, and the end. That of an open container is still the one around it. */
  cells: Int32Array<ArrayBuffer>;
  /** How many values and keys there are. */
  size: number;
}
export const escapedFlag = 1;
export const keyFlag = 2;

/** How many a text of this length may have. No meaningful text is denser, and no text can make its tape far larger than itself. */
const mostNodes = ({ length }: string): number => 262_144 + Math.floor(length / 4);

const [openBrace, openBracket, closeBrace, comma, colon] = [0x7b, 0x5b, 0x7d, 0x2c, 0x3a] as const;

/** How far a text has been read. */
interface Progress {
  /** The next character that is not white space. */
  at: number;
  /** The innermost open container. */
  open: number;
  /** The character that closes it. */
  closer: number;
  depth: number;
  /** Whether the key before the next value has been read. */
  hasKey: boolean;
  /** Where a string starts that has been read in part, and how far. */
  string: number;
  within: number;
  isOver: boolean;
}

export function beginTape(text: string): Progress {
  const nowhere = { open: -1, closer: -1, depth: 0, hasKey: false, string: -1, within: -1 };
  return { at: skipSpace(text, 0), ...nowhere, isOver: false };
}

/**
 * Checks a text strictly by RFC 8259 and writes its nodes on the tape, on from where it left off; true at the end, false soon
 * after `until`. Without recursion: depth costs no stack.
 */
export function writeTape(text: string, tape: Tape, progress: Progress, until: number): boolean {
  // A function call for each step: V8 would recompile a long loop while it runs, which takes longer than the scan.
  do readNext(text, tape, progress, until);
  while (!progress.isOver && progress.at < until && progress.within < until);
  if (!progress.isOver) return false;
  if (progress.at < text.length) throw new JsonFault(text, progress.at, 'expected nothing more after the value');
  return true;
}

/**
 * Reads a scalar or the beginning of a container, with the key before it, and the closing brackets and comma after it. A string
 * that continues past `until` is left for the next call.
 */
function readNext(text: string, tape: Tape, progress: Progress, until: number): void {
  let { at, open, closer } = progress;
  makeRoom(text, tape, at);

  if (closer === closeBrace && !progress.hasKey) {
    if (codeAt(text, at) !== quote) throw new JsonFault(text, at, 'expected a key in double quotes');
    const end = readString(text, at, progress, until);
    if (end < 0) return;
    add(tape, (at << 2) | (end & escapedFlag) | keyFlag, end >>> 2);
    at = skipSpace(text, end >>> 2);
    if (codeAt(text, at) !== colon) throw new JsonFault(text, at, 'expected a colon');
    at = skipSpace(text, at + 1);
  }

  const code = codeAt(text, at);
  const isContainer = code === openBrace || code === openBracket;
  if (isContainer) {
    if (++progress.depth > maxDepth) throw new JsonFault(text, at, `nested deeper than ${maxDepth} levels`);
    open = add(tape, at << 2, open);
    closer = code + 2; // in ASCII, of both kinds
    at = skipSpace(text, at + 1);
  } else {
    const end =
      code === quote ? readString(text, at, progress, until) : (skipWord(text, at) ?? readNumber(text, at)) << 2;
    if (end < 0) {
      progress.at = at;
      progress.hasKey = closer === closeBrace;
      return;
    }
    add(tape, (at << 2) | (end & escapedFlag), end >>> 2);
    at = skipSpace(text, end >>> 2);
  }

  const { cells } = tape;
  for (let isOver = !isContainer || codeAt(text, at) === closer; isOver && open >= 0; ) {
    isOver = codeAt(text, at) === closer;
    if (isOver) {
      const around = cells[2 * open + 1] ?? -1;
      cells[2 * open + 1] = at + 1;
      open = around;
      closer = open < 0 ? -1 : text.charCodeAt((cells[2 * open] ?? 0) >>> 2) + 2;
      progress.depth--;
    } else if (codeAt(text, at) !== comma) {
      throw new JsonFault(text, at, `expected a comma or the end of the ${closer === closeBrace ? 'object' : 'array'}`);
    }
    at = skipSpace(text, at + 1);
  }

  progress.at = at;
  progress.open = open;
  progress.closer = closer;
  progress.hasKey = false;
  progress.isOver = open < 0;
}

/** The end of a string as `trySkipString` returns it; negative if that is beyond `until`. */
function readString(text: string, start: number, progress: Progress, until: number): number {
  const end = trySkipString(text, start, start === progress.string ? progress.within : start + 1, until);
  if (end >= 0) return end;
  const at = ~end;
  if (at < until || at >= text.length) throw faultInString(text, at);
  progress.string = start;
  progress.within = at;
  return end;
}

function readNumber(text: string, start: number): number {
  const end = trySkipNumber(text, start);
  if (end < 0) throw faultInNumber(text, start, ~end);
  return end;
}

/** Adds a value or key. Returns its number. */
function add(tape: Tape, start: number, end: number): number {
  const node = tape.size++;
  tape.cells[2 * node] = start;
  tape.cells[2 * node + 1] = end;
  return node;
}

/**
 * Makes room for a key and a value, the most that one step adds: doubles the cells, or grows them to a little more than the text
 * will need at this density, up to the limit. `transfer` frees the old buffer at once, without waiting for garbage collection.
 */
function makeRoom(text: string, tape: Tape, at: number): void {
  const { cells, size } = tape;
  const needed = 2 * (size + 2);
  if (needed <= cells.length) return;
  const length = Math.min(Math.ceil(cells.length * Math.max(2, (1.1 * text.length) / at)), 2 * mostNodes(text));
  if (needed > length) throw new JsonFault(text, at, 'too many values for a text of this length');
  tape.cells = new Int32Array(cells.buffer.transfer(length * cells.BYTES_PER_ELEMENT));
}
