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

/** Checks a text strictly by RFC 8259 and writes its nodes on the tape. Without recursion: depth costs no stack. */
export function writeTape(text: string, tape: Tape): void {
  let cells = tape.cells;
  let top = 0; // where on the tape the next node goes
  let open = -1; // the innermost open container; until it is closed its third cell names the one around it
  let closer = -1; // the character that closes it
  let depth = 0;
  let at = skipSpace(text, 0);
  for (;;) {
    if (top + 2 * width > cells.length) cells = tape.cells = grow(cells);

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
    cells[top] = at;
    if (code === openBrace || code === openBracket) {
      if (++depth > maxDepth) throw new JsonFault(text, at, `nested deeper than ${maxDepth} levels`);
      cells[top + 2] = open;
      open = top;
      closer = code + 2; // in ASCII, of both kinds
      top += width;
      at = skipSpace(text, at + 1);
      if (codeAt(text, at) !== closer) continue;
    } else {
      const end = code === quote ? skipString(text, at) : (skipWord(text, at) ?? skipNumber(text, at)) << 2;
      cells[top + 1] = end;
      cells[top + 2] = top / width + 1;
      top += width;
      at = skipSpace(text, end >>> 2);
    }

    while (open >= 0 && codeAt(text, at) === closer) {
      at++;
      cells[open + 1] = at << 2;
      const around = cells[open + 2] ?? -1;
      cells[open + 2] = top / width;
      open = around;
      closer = open < 0 ? -1 : text.charCodeAt(cells[open] ?? 0) + 2;
      depth--;
      at = skipSpace(text, at);
    }
    if (open < 0) break;
    if (codeAt(text, at) !== comma) {
      throw new JsonFault(text, at, `expected a comma or the end of the ${closer === closeBrace ? 'object' : 'array'}`);
    }
    at = skipSpace(text, at + 1);
  }
  if (at < text.length) throw new JsonFault(text, at, 'expected nothing more after the value');
  tape.size = top / width;
}

function grow(cells: Int32Array): Int32Array {
  const larger = new Int32Array(cells.length * 2);
  larger.set(cells);
  return larger;
}
