import type { Writable } from 'node:stream';

/** How many characters to encode at a time. All at once, a long body would be in memory a second time, as bytes. */
const portion = 1_048_576;
/** In characters. Anything longer costs more to join than to write in pieces. */
const shortBody = 16_384;

/** Writes a whole body, each portion once the connection has taken the ones before. */
export function writeBody(connection: Writable, texts: readonly string[]): void {
  const whole = joinIfShort(texts);
  if (whole === undefined) writePortions(connection, cut(texts));
  else connection.end(whole || undefined);
}

function writePortions(connection: Writable, portions: Generator<string>): void {
  const writeOn = (): void => {
    for (let next = portions.next(); !next.done; next = portions.next()) {
      if (connection.write(next.value)) continue;
      connection.once('drain', writeOn);
      return;
    }
    connection.end();
  };
  writeOn();
}

function* cut(texts: readonly string[]): Generator<string> {
  for (const text of texts) {
    for (let start = 0, end = 0; start < text.length; start = end) {
      end = start + portion;
      if ((text.codePointAt(end - 1) ?? 0) > 0xffff) end += 1; // never between the halves of a character
      yield text.slice(start, end);
    }
  }
}

/** A short body leaves together with its head, in one write to the system. */
function joinIfShort(texts: readonly string[]): string | undefined {
  const length = texts.reduce((total, text) => total + text.length, 0);
  return length < shortBody ? texts.join('') : undefined;
}
