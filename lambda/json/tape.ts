import { JsonFault } from './fault.ts';
import { codeAt, quote, skipNumber, skipSpace, skipString, skipWord } from './tokens.ts';

/** Containers may stand this deep inside one another. */
export const maxDepth = 10_000;

/**
 * The values and keys of a text in the order in which they start, `width` cells each: its start; its end shifted left
 * by two, plus the flags below; and the node after it and all inside it.
 */
export interface Tape {
  cells: Int32Array;
  /** The number of nodes. */
  size: number;
}
export const width = 3;
export const escapedFlag = 1;
export const keyFlag = 2;

const [openBrace, openBracket, closeBrace, comma, colon] = [0x7b, 0x5b, 0x7d, 0x2c, 0x3a] as const;

/** How far a text has been read. */
interface Progress {
  /** The next character that is no white space. */
  at: number;
  /** The first cell of the innermost open container; until it is closed its third cell names the one around it. */
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
  let top = tape.size * width; // where on the tape the next node goes
  if (top + 2 * width > tape.cells.length) tape.cells = grow(tape.cells);
  const { cells } = tape;

  if (closer === closeBrace) {
    if (codeAt(text, at) !== quote) throw new JsonFault(text, at, 'expected a key in double quotes');
    const end = skipString(text, at);
    cells[top] = at;
    cells[top + 1] = end | keyFlag;
    cells[top + 2] = top / width + 1;
    top += width;
    at = skipSpace(text, end >>> 2);
    if (codeAt(text, at) !== colon) throw new JsonFault(text, at, 'expected a colon');
    at = skipSpace(text, at + 1);
  }

  const code = codeAt(text, at);
  const isContainer = code === openBrace || code === openBracket;
  cells[top] = at;
  if (isContainer) {
    if (++progress.depth > maxDepth) throw new JsonFault(text, at, `nested deeper than ${maxDepth} levels`);
    cells[top + 2] = open;
    open = top;
    closer = code + 2; // in ASCII, of both kinds
    top += width;
    at = skipSpace(text, at + 1);
  } else {
    const end = code === quote ? skipString(text, at) : (skipWord(text, at) ?? skipNumber(text, at)) << 2;
    cells[top + 1] = end;
    cells[top + 2] = top / width + 1;
    top += width;
    at = skipSpace(text, end >>> 2);
  }

  for (let isOver = !isContainer || codeAt(text, at) === closer; isOver && open >= 0; ) {
    isOver = codeAt(text, at) === closer;
    if (isOver) {
      cells[open + 1] = (at + 1) << 2;
      const around = cells[open + 2] ?? -1;
      cells[open + 2] = top / width;
      open = around;
      closer = open < 0 ? -1 : text.charCodeAt(cells[open] ?? 0) + 2;
      progress.depth--;
    } else if (codeAt(text, at) !== comma) {
      throw new JsonFault(text, at, `expected a comma or the end of the ${closer === closeBrace ? 'object' : 'array'}`);
    }
    at = skipSpace(text, at + 1);
  }

  progress.at = at;
  progress.open = open;
  progress.closer = closer;
  tape.size = top / width;
}

function grow(cells: Int32Array): Int32Array {
  const larger = new Int32Array(cells.length * 2);
  larger.set(cells);
  return larger;
}
