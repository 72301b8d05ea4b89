import { Readable, type Writable } from 'node:stream';

/** In bytes. Memory and connections are reserved for bodies up to this size, so that large ones can't starve them. */
export const smallBody = 65_536;

/**
 * Reads a whole body. Throws a RangeError and closes its connection if it is longer than `limit` bytes. Calls `take` before it buffers a
 * chunk; an error that `take` throws has the same effect.
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

/** The same as text. A separate function, because an async caller that awaits the bytes would retain them until it returns. */
export async function readText(...reading: Parameters<typeof readBytes>): Promise<string> {
  return String(await readBytes(...reading));
}

/** Destroys a body that nobody reads any more; resolves when it has closed. */
export async function over(body: string | Readable): Promise<void> {
  if (typeof body === 'string') return;
  body.destroy();
  if (!body.closed) await new Promise((resolve) => body.once('close', resolve));
}

/** How many characters to encode at a time. Encoded whole, a long body would be in memory twice. */
const portion = 1_048_576;
/** In characters. A longer body costs more to join than to write in pieces. */
const shortBody = 16_384;

/** Writes a whole body, with back-pressure. */
export function writeBody(connection: Writable, texts: readonly string[]): void {
  const length = texts.reduce((total, text) => total + text.length, 0);
  // A short body goes out together with its head, in one system call.
  if (length < shortBody) connection.end(texts.join('') || undefined);
  else Readable.from(portionsOf(texts)).pipe(connection);
}

function* portionsOf(texts: readonly string[]): Generator<string> {
  for (const text of texts) yield* cut(text, portion);
}

/** Splits a text into pieces of this many characters, never inside a surrogate pair. */
export function* cut(text: string, length: number): Generator<string> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + length;
    if ((text.codePointAt(end - 1) ?? 0) > 0xffff) end += 1;
    yield text.slice(start, end);
  }
}
