/** In bytes. What stands before, between or after vectors takes about a hundred. */
const longestPiece = 65_536;
/** How far to look for the next vector at a time. */
const look = 512;

/** Where a vector begins: an array of numbers or of such arrays, or its bytes in base64. A quote within a string would have a backslash before it. */
const opening = /(?<!\\)"embedding"\s*:\s*["[]/g;
/** In characters, and with more space than anybody writes. What comes byte by byte is not searched anew each time. */
const longestOpening = 256;
const [quote, openBracket, closeBracket, zero, nine] = [0x22, 0x5b, 0x5d, 0x30, 0x39];

// A piece between two vectors becomes an answer of its own, in which a number stands for each of them.
const before = '{"data":[{"embedding":0';
const after = '0}]}';

/** Bytes of an answer in, those for the client out. */
interface VectorsRewriter {
  push(chunk: Buffer): Buffer;
  /** What is left when all has come. */
  finish(): Buffer;
}

/**
 * Rewrites an answer of vectors while it comes, keeping none of them. `rewrite` gets whole answers: this one if it has no vector,
 * else each piece between two, completed. Throws if a piece is too long, if a vector holds a string, and if one breaks off.
 */
export function createVectorsRewriter(rewrite: (answer: string) => string): VectorsRewriter {
  const pieces = createPieces(rewrite);
  /** What is open of the vector which is passing: its bytes in base64, or so many arrays. */
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

/** Where these arrays of numbers end, or else the end of the chunk, and how many are open there. */
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

/** What stands between the vectors of one answer, each piece with the first character of the vector after it. */
function createPieces(rewrite: (answer: string) => string) {
  /** As much of one as has come, one character for each byte. */
  let piece = '';
  let isFirst = true;
  /** What comes before and after the number in the last piece, if that needed no change; all of one without a number. */
  let unchanged: readonly Buffer[] = [];

  return {
    /** The end of a piece that begins here, if nothing but its number differs from one that needed no change. */
    skip(chunk: Buffer, start: number): number {
      const [head, tail] = unchanged;
      if (head === undefined || piece !== '' || !isAt(chunk, start, head)) return start;
      let at = start + head.length;
      if (tail === undefined) return at;
      while (isDigit(chunk[at])) at += 1;
      return isAt(chunk, at, tail) ? at + tail.length : start;
    },

    /** Takes as much of the chunk as may belong to a piece. */
    take(chunk: Buffer, start: number) {
      const { length } = piece;
      piece += chunk.toString('latin1', start, start + look);
      if (piece.length > longestPiece) throw new TypeError('too much stands around the vectors');
      opening.lastIndex = Math.max(0, length - longestOpening);
      const found = opening.exec(piece);
      if (found) piece = piece.slice(0, found.index + found[0].length);
      return { length: piece.length - length, isWhole: found !== null };
    },

    /** Rewrites what was taken. */
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
