import type { Writable } from 'node:stream';

/** Characters that are encoded at a time: else a long body would stand in memory a second time, as bytes. */
const portion = 1_048_576;
/** What is longer costs more to join than to write in pieces. */
const shortBody = 16_384;

/** Writes a body to its end, each portion of it when the connection has taken those before. */
export function writeBody(connection: Writable, texts: readonly string[]): void {
  const portions = cut(joinIfShort(texts));
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
      if ((text.codePointAt(end - 1) ?? 0) > 0xffff) end += 1; // both halves of a character
      yield text.slice(start, end);
    }
  }
}

/** A short body leaves together with its head, in one write to the system. */
function joinIfShort(texts: readonly string[]): readonly string[] {
  const length = texts.reduce((total, text) => total + text.length, 0);
  return length < shortBody ? [texts.join('')] : texts;
}
