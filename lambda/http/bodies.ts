import { Readable, type Writable } from 'node:stream';

/** In bytes. Bodies up to this size have a reserve, so that large ones can't keep them out. */
export const smallBody = 65_536;

/**
 * Reads a whole body. Throws a RangeError and closes its connection if it is longer than `limit` bytes. Calls `take` before it keeps
 * more; an error that it throws ends the reading in the same way.
 */
export async function readBytes(
  body: Readable,
  limit: number,
  take?: (bytes: number, whole: number) => void,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw new RangeError(`the body is longer than ${limit} bytes`);
    take?.(chunk.length, size);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The same as text. In a function of its own, as whoever waits for the bytes keeps them until it is done itself. */
export async function readText(...reading: Parameters<typeof readBytes>): Promise<string> {
  return String(await readBytes(...reading));
}

/** Resolves when nothing of an answer is under way any more. Nobody reads on. */
export async function over(body: string | Readable): Promise<void> {
  if (typeof body === 'string') return;
  body.destroy();
  if (!body.closed) await new Promise((resolve) => body.once('close', resolve));
}

/** How many characters to encode at a time. All at once, a long body would be in memory a second time, as bytes. */
const portion = 1_048_576;
/** In characters. Anything longer costs more to join than to write in pieces. */
const shortBody = 16_384;

/** Writes a whole body, each portion once the connection has taken the ones before. */
export function writeBody(connection: Writable, texts: readonly string[]): void {
  const length = texts.reduce((total, text) => total + text.length, 0);
  // A short body leaves together with its head, in one write to the system.
  if (length < shortBody) connection.end(texts.join('') || undefined);
  else Readable.from(portionsOf(texts)).pipe(connection);
}

function* portionsOf(texts: readonly string[]): Generator<string> {
  for (const text of texts) yield* cut(text, portion);
}

/** Cuts a text into pieces of this many characters, never between the halves of a character. */
export function* cut(text: string, length: number): Generator<string> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + length;
    if ((text.codePointAt(end - 1) ?? 0) > 0xffff) end += 1;
    yield text.slice(start, end);
  }
}
