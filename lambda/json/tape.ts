import { JsonFault } from './fault.ts';
import { codeAt, quote, skipNumber, skipSpace, skipString, skipWord } from './tokens.ts';

/** Containers may stand this deep inside one another. */
export const maxDepth = 10_000;

/**
 * The values and keys of a text in the order in which they start. Most are keys and scalars, and most of those are short:
 * they have one cell each, and where one ends is found out anew from where it starts.
 */
export interface Tape {
  /** Of a key or scalar, its start, shifted left by two, plus the flags below; of a container, the complement of its number. */
  nodes: Int32Array<ArrayBuffer>;
  /** The number of nodes. */
  size: number;
  /** By number of a container, `width` cells: its start, its end, and the node after it and all inside it. */
  spans: Int32Array<ArrayBuffer>;
  /** The number of containers. */
  containers: number;
}
export const escapedFlag = 1;
export const keyFlag = 2;
export const width = 3;

/**
 * What may be on the tape of a text of this length: the first so many, and one for so many characters. No text that means
 * something is denser, and a text can't make its tape take much more room than it takes itself.
 */
const mostNodes = ({ length }: string): number => 262_144 + Math.floor(length / 4);
const mostContainers = ({ length }: string): number => 65_536 + Math.floor(length / 16);

const [openBrace, openBracket, closeBrace, comma, colon] = [0x7b, 0x5b, 0x7d, 0x2c, 0x3a] as const;

/** How far a text has been read. */
interface Progress {
  /** The next character that is no white space. */
  at: number;
  /** The number of the innermost open container; until it is closed its last cell has the number of the one around it. */
  open: number;
  /** The character that closes it. */
  closer: number;
  depth: number;
}

/** Checks a text strictly by RFC 8259 and writes its nodes on the tape. Without recursion: depth costs no stack. */
export function writeTape(text: string, tape: Tape): void {
  const progress: Progress = { at: skipSpace(text, 0), open: -1, closer: -1, depth: 0 };
  // A function for each turn: V8 compiles a long loop anew while it runs, which takes longer than to scan the text.
  do readNext(text, tape, progress);
  while (progress.open >= 0);
  if (progress.at < text.length) throw new JsonFault(text, progress.at, 'expected nothing more after the value');
}

/** Reads a scalar or the beginning of a container, the key before it, and the ends and the comma after it. */
function readNext(text: string, tape: Tape, progress: Progress): void {
  let { at, open, closer } = progress;
  makeRoom(text, tape, at);
  const { nodes, spans } = tape;
  let node = tape.size;

  if (closer === closeBrace) {
    if (codeAt(text, at) !== quote) throw new JsonFault(text, at, 'expected a key in double quotes');
    const end = skipString(text, at);
    nodes[node] = (at << 2) | keyFlag | (end & escapedFlag);
    node += 1;
    at = skipSpace(text, end >>> 2);
    if (codeAt(text, at) !== colon) throw new JsonFault(text, at, 'expected a colon');
    at = skipSpace(text, at + 1);
  }

  const code = codeAt(text, at);
  const isContainer = code === openBrace || code === openBracket;
  if (isContainer) {
    if (++progress.depth > maxDepth) throw new JsonFault(text, at, `nested deeper than ${maxDepth} levels`);
    const number = tape.containers++;
    nodes[node] = ~number;
    spans[number * width] = at;
    spans[number * width + 2] = open;
    open = number;
    closer = code + 2; // in ASCII, of both kinds
    at = skipSpace(text, at + 1);
  } else {
    const end = code === quote ? skipString(text, at) : (skipWord(text, at) ?? skipNumber(text, at)) << 2;
    nodes[node] = (at << 2) | (end & escapedFlag);
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
      throw new JsonFault(text, at, `expected a comma or the end of the ${closer === closeBrace ? 'object' : 'array'}`);
    }
    at = skipSpace(text, at + 1);
  }

  progress.at = at;
  progress.open = open;
  progress.closer = closer;
  tape.size = node;
}

/** For the key, the value and the container that one turn may add. */
function makeRoom(text: string, tape: Tape, at: number): void {
  if (tape.size + 2 > tape.nodes.length) {
    tape.nodes = grow(tape.nodes, mostNodes(text), text.length / at);
    if (tape.size + 2 > tape.nodes.length) throw new JsonFault(text, at, 'too many values for a text of this length');
  }
  if ((tape.containers + 1) * width > tape.spans.length) {
    tape.spans = grow(tape.spans, mostContainers(text) * width, text.length / at);
    if ((tape.containers + 1) * width > tape.spans.length) {
      throw new JsonFault(text, at, 'too many objects and arrays for a text of this length');
    }
  }
}

/**
 * Twice as many cells, or a little more than are to be expected when the text goes on like this, as far as the limit
 * allows. What they stood in is free at once, not when garbage is collected.
 */
function grow(cells: Int32Array<ArrayBuffer>, limit: number, rest: number): Int32Array<ArrayBuffer> {
  const length = Math.min(Math.ceil(cells.length * Math.max(2, 1.1 * rest)), limit);
  return length > cells.length ? new Int32Array(cells.buffer.transfer(length * cells.BYTES_PER_ELEMENT)) : cells;
}
