import {
  codeAt,
  faultAt,
  faultInNumber,
  faultInString,
  limitAt,
  quote,
  skipSpace,
  skipWord,
  trySkipNumber,
  trySkipString,
} from './tokens.ts';

export const maxDepth = 10_000;

/**
 * The values and keys of a text in the order in which they start. Most are short and fit into one cell. Objects, arrays and
 * long ones also have a span.
 */
export interface Tape {
  /** From the lowest bit: two flags, the length, the start; if the length is 0, the number of a span instead of the start. */
  nodes: Int32Array<ArrayBuffer>;
  size: number;
  /** `width` cells each: the start, the end, and the node that follows it and everything inside it. */
  spans: Int32Array<ArrayBuffer>;
  /** The number of spans. */
  spanned: number;
}
export const escapedFlag = 1;
export const keyFlag = 2;
export const lengthShift = 2;
export const longestShort = 31;
export const startShift = 7;
const lastShort = 2 ** 25 - 1; // the last offset at which a short one may start
export const width = 3;

/**
 * How many nodes and spans a text of this length may have. No meaningful text is denser, and so no text can make its tape
 * much larger than itself.
 */
const mostNodes = ({ length }: string): number => 262_144 + Math.floor(length / 4);
const mostSpans = ({ length }: string): number => 65_536 + Math.floor(length / 16);

const [openBrace, openBracket, closeBrace, comma, colon] = [0x7b, 0x5b, 0x7d, 0x2c, 0x3a] as const;

/** How far a text has been read. */
interface Progress {
  /** The next character that is not white space. */
  at: number;
  /** The span of the innermost open container. Until that closes, its last cell holds the span of the one around it. */
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
  if (progress.at < text.length) throw faultAt(text, progress.at, 'expected nothing more after the value');
  return true;
}

/**
 * Reads a scalar or the beginning of a container, with the key before it, and the closing brackets and comma after it. A string
 * that continues past `until` is left for the next call.
 */
function readNext(text: string, tape: Tape, progress: Progress, until: number): void {
  let { at, open, closer } = progress;
  makeRoom(text, tape, at);
  const { nodes, spans } = tape;
  let node = tape.size;

  if (closer === closeBrace && !progress.hasKey) {
    if (codeAt(text, at) !== quote) throw faultAt(text, at, 'expected a key in double quotes');
    const end = readString(text, at, progress, until);
    if (end < 0) return;
    nodes[node] = enter(tape, node, at, end | keyFlag);
    node += 1;
    at = skipSpace(text, end >>> 2);
    if (codeAt(text, at) !== colon) throw faultAt(text, at, 'expected a colon');
    at = skipSpace(text, at + 1);
  }

  const code = codeAt(text, at);
  const isContainer = code === openBrace || code === openBracket;
  if (isContainer) {
    if (++progress.depth > maxDepth) throw limitAt(text, at, `nested deeper than ${maxDepth} levels`);
    open = enterContainer(tape, node, at, open);
    closer = code + 2; // in ASCII, of both kinds
    at = skipSpace(text, at + 1);
  } else {
    const end =
      code === quote ? readString(text, at, progress, until) : (skipWord(text, at) ?? readNumber(text, at)) << 2;
    if (end < 0) {
      progress.at = at;
      progress.hasKey = closer === closeBrace;
      tape.size = node;
      return;
    }
    nodes[node] = enter(tape, node, at, end);
    at = skipSpace(text, end >>> 2);
  }
  node += 1;

  for (let isOver = !isContainer || codeAt(text, at) === closer; isOver && open >= 0; ) {
    isOver = codeAt(text, at) === closer;
    if (isOver) {
      const around = spans[open * width + 2] ?? -1;
      spans[open * width + 1] = at + 1;
      spans[open * width + 2] = node;
      open = around;
      closer = open < 0 ? -1 : text.charCodeAt(spans[open * width] ?? 0) + 2;
      progress.depth--;
    } else if (codeAt(text, at) !== comma) {
      throw faultAt(text, at, `expected a comma or the end of the ${closer === closeBrace ? 'object' : 'array'}`);
    }
    at = skipSpace(text, at + 1);
  }

  progress.at = at;
  progress.open = open;
  progress.closer = closer;
  progress.hasKey = false;
  progress.isOver = open < 0;
  tape.size = node;
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

/** Makes the cell and the span of a container, inside the one with the span `around`. Returns the number of its span. */
function enterContainer(tape: Tape, node: number, at: number, around: number): number {
  const number = tape.spanned++;
  tape.nodes[node] = number << startShift;
  tape.spans[number * width] = at;
  tape.spans[number * width + 2] = around;
  return number;
}

/** Makes the cell of a key or scalar. Its `end` is shifted left by two and carries the flags. */
function enter(tape: Tape, node: number, start: number, end: number): number {
  const length = (end >>> 2) - start;
  const flags = end & (escapedFlag | keyFlag);
  if (length <= longestShort && start <= lastShort) return (start << startShift) | (length << lengthShift) | flags;
  const { spans } = tape;
  const number = tape.spanned++;
  spans[number * width] = start;
  spans[number * width + 1] = end >>> 2;
  spans[number * width + 2] = node + 1;
  return (number << startShift) | flags;
}

/** Grows the tape for a key and a value, the most that one step adds. */
function makeRoom(text: string, tape: Tape, at: number): void {
  if (tape.size + 2 > tape.nodes.length) {
    tape.nodes = grow(tape.nodes, mostNodes(text), text.length / at);
    if (tape.size + 2 > tape.nodes.length) throw limitAt(text, at, 'too many values for a text of this length');
  }
  if ((tape.spanned + 2) * width > tape.spans.length) {
    tape.spans = grow(tape.spans, mostSpans(text) * width, text.length / at);
    if ((tape.spanned + 2) * width > tape.spans.length) {
      throw limitAt(text, at, 'too many objects and arrays for a text of this length');
    }
  }
}

/**
 * Doubles the cells, or grows them to a little more than the text will need at this density, up to the limit. `transfer` frees
 * the old buffer at once, without waiting for garbage collection; the first one is a part of another's.
 */
function grow(cells: Int32Array<ArrayBuffer>, limit: number, rest: number): Int32Array<ArrayBuffer> {
  const length = Math.min(Math.ceil(cells.length * Math.max(2, 1.1 * rest)), limit);
  if (length <= cells.length) return cells;
  if (cells.byteLength === cells.buffer.byteLength) {
    return new Int32Array(cells.buffer.transfer(length * cells.BYTES_PER_ELEMENT));
  }
  const grown = new Int32Array(length);
  grown.set(cells);
  return grown;
}
