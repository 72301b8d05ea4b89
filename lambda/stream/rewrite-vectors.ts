/** In bytes. What stands before, between or after vectors takes about a hundred. */
const longestPiece = 65_536;
/** How far to look for the next vector at first. */
const firstLook = 512;

/** Where a vector begins: an array of numbers, or its bytes in base64. A quote within a string would have a backslash before it. */
const opening = /(?<!\\)"embedding"\s*:\s*["[]/;

// A piece between two vectors becomes an answer of its own, in which a number stands for each of them.
const before = '{"data":[{"embedding":0';
const after = '0}]}';

/**
 * Rewrites an answer of vectors while it comes, keeping none of them. `rewrite` gets whole answers: this one if it has no vector,
 * else each piece between two, completed. Throws if a piece is too long, if a vector holds a string, and if one breaks off.
 */
export async function* rewriteVectors(
  chunks: AsyncIterable<Buffer>,
  rewrite: (answer: string) => Promise<string>,
): AsyncGenerator<Buffer> {
  const rewritePiece = createPieceRewriter(rewrite);
  /** What has come since the last vector, one character for each byte. */
  let piece = '';
  /** The character that ends the vector which is passing. */
  let closing: string | undefined;

  for await (const chunk of chunks) {
    const out: Buffer[] = [];
    for (let at = 0; at < chunk.length; ) {
      if (closing !== undefined) {
        const end = chunk.indexOf(closing, at) + 1;
        const passing = chunk.subarray(at, end || chunk.length);
        if (closing === ']' && passing.includes('"')) throw new TypeError('a vector holds more than numbers');
        if (end > 0) closing = undefined;
        out.push(passing);
        at += passing.length;
        continue;
      }
      // Twice as far each time, so that a long piece is not searched over and over.
      const { length } = piece;
      piece += chunk.toString('latin1', at, at + Math.max(firstLook, length));
      if (piece.length > longestPiece) throw new RangeError('too much stands around the vectors');
      const found = opening.exec(piece);
      if (found) piece = piece.slice(0, found.index + found[0].length);
      at += piece.length - length;
      if (!found) continue;
      const bracket = piece.slice(-1);
      out.push(Buffer.from((await rewritePiece(piece.slice(0, -1), false)) + bracket, 'latin1'));
      closing = bracket === '[' ? ']' : '"';
      piece = '';
    }
    if (out.length > 0) yield Buffer.concat(out);
  }
  if (closing !== undefined) throw new TypeError('the answer ends within a vector');
  yield Buffer.from(await rewritePiece(piece, true), 'latin1');
}

/** Rewrites the pieces of one answer, given and returned with one character for each byte. */
function createPieceRewriter(rewrite: (answer: string) => Promise<string>) {
  let isFirst = true;
  /** The last piece that needed no change, without its number: the ones that follow are mostly like it. */
  let unchanged: string | undefined;
  return async (piece: string, isLast: boolean): Promise<string> => {
    const likeness = piece.replace(/"index"\s*:\s*\d+/, '"index":');
    if (likeness === unchanged && !isLast) return piece;
    const [head, tail] = [isFirst ? '' : before, isLast ? '' : after];
    isFirst = false;
    const answer = head + Buffer.from(piece, 'latin1').toString() + tail;
    const rewritten = await rewrite(answer);
    if (!rewritten.startsWith(head)) throw new TypeError('a word of every answer is a name to hide');
    unchanged = rewritten === answer ? likeness : undefined;
    return Buffer.from(rewritten.slice(head.length, rewritten.length - tail.length)).toString('latin1');
  };
}
