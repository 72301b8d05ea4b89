import type { Readable } from 'node:stream';
import type { Room } from '../http/room.ts';

/**
 * Reads a whole body as UTF-8 text. Throws a RangeError and closes the connection if it is longer than `limit` bytes. Calls
 * `take` before it keeps more; an error that it throws ends the reading in the same way.
 */
export async function readBody(body: Readable, limit: number, take: Room['take'] = () => {}): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw new RangeError(`the body is longer than ${limit} bytes`);
    take(chunk.length, size);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
