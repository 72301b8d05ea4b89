import type { Readable } from 'node:stream';

/** Reads a whole body as UTF-8 text; throws a RangeError and lets go of the connection where it is longer than `limit` bytes. */
export async function readBody(body: Readable, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw new RangeError(`the body is longer than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
