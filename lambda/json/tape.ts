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
 * The values and keys of a text, in the order in which they start. Most are short and fit into one cell. Objects, arrays and long
 * values also have a span.
 */
export interface Tape {
  /** Per node, from the lowest bit: two flags, the length, the start. If the length is 0, the number of a span instead of the start. */
  nodes: Int32Array<ArrayBuffer>;
  size: number;
  /** `width` cells per span: the start, the end, and the node after it and everything inside it. */
  spans: Int32Array<ArrayBuffer>;
  /** The number of spans. */
  spanned: number;
}
export const escapedFlag = 1;
export const keyFlag = 2;
export const lengthShift = 2;
export const longestShort = 31;
export const startShift = 7;
const lastShort = 2 ** 25 - 1; // the last offset at which a short value may start
export const width = 3;

/**
 * How many nodes and spans a text of this length may have. No meaningful text is denser, and the limit keeps a tape from growing much
 * larger than its text.
 */
const mostNodes = ({ length }: string): number => 262_144 + Math.floor(length / 4);
const mostSpans = ({ length }: string): number => 65_536 + Math.floor(length / 16);

const [openBrace, openBracket, closeBrace, comma, colon] = [0x7b, 0x5b, 0x7d, 0x2c, 0x3a] as const;

/** The state of a scan. */
interface Progress {
  /** The next character that is not white space. */
  at: number;
  /** The span of the innermost open container. Until it closes, its last cell holds the span of its parent. */
  open: number;
  /** The character that closes it. */
  closer: number;
  depth: number;
  /** Whether the key before the next value has been read. */
  hasKey: boolean;
  /** The start of a partly read string, and how far it has been read. */
  string: number;
  within: number;
  isOver: boolean;
}

export function beginTape(text: string): Progress {
  const initial = { open: -1, closer: -1, depth: 0, hasKey: false, string: -1, within: -1 };
  return { at: skipSpace(text, 0), ...initial, isOver: false };
}

/**
 * Validates a text strictly by RFC 8259 and writes its nodes to the tape, continuing where it left off. Returns true at the end, false
 * soon after `until`. Not recursive, so that depth costs no stack.
 */
export function writeTape(text: string, tape: Tape, progress: Progress, until: number): boolean {
  // One function call per step: V8 would replace a long loop while it runs (OSR), which takes longer than the scan.
  do readNext(text, tape, progress, until);
  while (!progress.isOver && progress.at < until && progress.within < until);
  if (!progress.isOver) return false;
  if (progress.at < text.length) throw faultAt(text, progress.at, 'expected nothing more after the value');
  return true;
}

/**
 * Reads a scalar or the start of a container, with the key before it and the closing brackets and comma after it. A string that
 * continues past `until` is finished by the next call.
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
    closer = code + 2; // in ASCII, for both brackets
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

/** The end of a string, as returned by `trySkipString`; negative if it is beyond `until`. */
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

/** Writes the cell and the span of a container whose parent's span is `around`. Returns the number of its span. */
function enterContainer(tape: Tape, node: number, at: number, around: number): number {
  const number = tape.spanned++;
  tape.nodes[node] = number << startShift;
  tape.spans[number * width] = at;
  tape.spans[number * width + 2] = around;
  return number;
}

/** Returns the cell of a key or scalar. Its `end` is shifted left by two and carries the flags. */
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

/** Grows the tape by a key and a value, the most that one step adds. */
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
 * Doubles the cells, or grows them to a little more than the text will need at this density, up to the limit. `transfer` frees the old
 * buffer at once, without waiting for garbage collection. The first buffer belongs to Node's pool, so it is copied.
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
