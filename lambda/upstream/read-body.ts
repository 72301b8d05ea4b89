import type { Readable } from 'node:stream';

/**
 * Reads a whole body as UTF-8 text; throws a RangeError and lets go of the connection where it is longer than `limit` bytes.
 * `take` is told of memory before it is used, and ends the reading the same way with what it throws.
 */
export async function readBody(
  body: Readable,
  limit: number,
  take: (bytes: number) => void = () => {},
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw new RangeError(`the body is longer than ${limit} bytes`);
    take(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
