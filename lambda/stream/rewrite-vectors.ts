/** In bytes. What stands before, between or after vectors is about a hundred bytes long. */
const longestPiece = 65_536;
/** How far to look for the next vector at a time. */
const look = 512;

/** The start of a vector: an array of numbers or of such arrays, or base64. Within a string the quotes would be escaped. */
const opening = /(?<!\\)"embedding"\s*:\s*["[]/g;
/** In characters, with room for more white space than anybody writes. Bounds the search where bytes arrive one by one. */
const longestOpening = 256;
const [quote, openBracket, closeBracket, zero, nine] = [0x22, 0x5b, 0x5d, 0x30, 0x39];

// A piece between two vectors is completed to an answer of its own, with a number in place of each vector.
const before = '{"data":[{"embedding":0';
const after = '0}]}';

/** The upstream's bytes in, the client's bytes out. */
interface VectorsRewriter {
  push(chunk: Buffer): Buffer;
  /** The rest, once everything has arrived. */
  finish(): Buffer;
}

/**
 * Rewrites an embeddings answer as it streams in, without buffering any vector. `rewrite` gets complete answers: the whole one if it has
 * no vector, otherwise each piece between two vectors, completed. Throws if a piece is too long, or a vector holds a string or is cut off.
 */
export function createVectorsRewriter(rewrite: (answer: string) => string): VectorsRewriter {
  const pieces = createPieces(rewrite);
  /** The vector that is passing through: within base64, or within this many nested arrays. */
  let inBytes = false;
  let arrays = 0;

  return {
    push(chunk) {
      const out: Buffer[] = [];
      let [passedFrom, at] = [0, 0];
      while (at < chunk.length) {
        if (inBytes) {
          const end = chunk.indexOf(quote, at) + 1;
          inBytes = end === 0;
          at = end || chunk.length;
          continue;
        }
        if (arrays > 0) {
          [at, arrays] = skipNumbers(chunk, at, arrays);
          continue;
        }
        const alike = pieces.skip(chunk, at);
        if (alike > at) at = alike;
        else {
          if (at > passedFrom) out.push(chunk.subarray(passedFrom, at));
          const taken = pieces.take(chunk, at);
          at = passedFrom = at + taken.length;
          if (!taken.isWhole) continue;
          out.push(pieces.rewrite(false));
        }
        if (chunk[at - 1] === openBracket) arrays = 1;
        else inBytes = true;
      }
      if (at > passedFrom) out.push(chunk.subarray(passedFrom));
      const [first] = out;
      return first && out.length === 1 ? first : Buffer.concat(out);
    },
    finish() {
      if (inBytes || arrays > 0) throw new TypeError('the answer ends within a vector');
      return pieces.rewrite(true);
    },
  };
}

/** Skips numbers: returns where the `open` arrays end, or the end of the chunk, and how many arrays are still open there. */
function skipNumbers(chunk: Buffer, from: number, open: number): [end: number, open: number] {
  let [end, arrays] = [from, open];
  while (arrays > 0 && end < chunk.length) {
    const close = chunk.indexOf(closeBracket, end);
    const numbers = chunk.subarray(end, close < 0 ? chunk.length : close);
    if (numbers.includes(quote)) throw new TypeError('a vector holds more than numbers');
    for (let at = numbers.indexOf(openBracket); at >= 0; at = numbers.indexOf(openBracket, at + 1)) arrays += 1;
    if (close >= 0) arrays -= 1;
    end = close < 0 ? chunk.length : close + 1;
  }
  return [end, arrays];
}

/** The pieces between the vectors of one answer. Each ends with the first character of the next vector. */
function createPieces(rewrite: (answer: string) => string) {
  /** The current piece so far, one character for each byte. */
  let piece = '';
  let isFirst = true;
  /** If the last piece needed no change: what stands before and after its index, or all of it if it has none. */
  let unchanged: readonly Buffer[] = [];

  return {
    /** The end of a piece that begins here and differs only in its index from one that needed no change; `start` if there is none. */
    skip(chunk: Buffer, start: number): number {
      const [head, tail] = unchanged;
      if (head === undefined || piece !== '' || !isAt(chunk, start, head)) return start;
      let at = start + head.length;
      if (tail === undefined) return at;
      while (isDigit(chunk[at])) at += 1;
      return isAt(chunk, at, tail) ? at + tail.length : start;
    },

    /** Takes as much of the chunk as may belong to the piece. */
    take(chunk: Buffer, start: number) {
      const { length } = piece;
      piece += chunk.toString('latin1', start, start + look);
      if (piece.length > longestPiece) throw new TypeError('too much stands around the vectors');
      opening.lastIndex = Math.max(0, length - longestOpening);
      const found = opening.exec(piece);
      if (found) piece = piece.slice(0, found.index + found[0].length);
      return { length: piece.length - length, isWhole: found !== null };
    },

    rewrite(isLast: boolean): Buffer {
      const given = piece;
      piece = '';
      const text = Buffer.from(isLast ? given : given.slice(0, -1), 'latin1').toString();
      const [head, tail] = [isFirst ? '' : before, isLast ? '' : after];
      isFirst = false;
      const rewritten = rewrite(head + text + tail);
      if (!rewritten.startsWith(head)) throw new TypeError('a word of every answer is a name to hide');
      const shown = rewritten.slice(head.length, rewritten.length - tail.length);
      unchanged = shown === text ? splitAtNumber(given) : [];
      return Buffer.from(isLast ? shown : shown + given.slice(-1));
    },
  };
}

function splitAtNumber(piece: string): Buffer[] {
  const [, head = piece, tail] = /^(.*"index"\s*:\s*)\d+(.*)$/s.exec(piece) ?? [];
  return [head, ...(tail === undefined ? [] : [tail])].map((part) => Buffer.from(part, 'latin1'));
}

function isAt(chunk: Buffer, start: number, bytes: Buffer): boolean {
  const end = start + bytes.length;
  return end <= chunk.length && chunk.compare(bytes, 0, bytes.length, start, end) === 0;
}

const isDigit = (byte = 0): boolean => byte >= zero && byte <= nine;
