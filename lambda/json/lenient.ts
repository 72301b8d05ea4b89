import type { Cooperative } from './cooperative.ts';
import type { Json, Scanner } from './scan.ts';
import { JsonFault, trySkipString } from './tokens.ts';

/** Each replacement takes more memory than it is long. */
const mostReplaced = 100_000;

const numberOrQuote = /-?(?:NaN|Infinity)|"/g;

/** Scans a text that Python may have written, which prints `NaN` and `Infinity`: they become null. */
export function scanLeniently(scanner: Scanner, text: string): Json {
  try {
    return scanner.scan(text);
  } catch (fault) {
    return scanner.scan(readable(text, fault));
  }
}

/** The same, with pauses in a long text. */
export function* scanLenientlyInParts(scanner: Scanner, text: string): Cooperative<Json> {
  try {
    return yield* scanner.scanInParts(text);
  } catch (fault) {
    return yield* scanner.scanInParts(readable(text, fault));
  }
}

function readable(text: string, fault: unknown): string {
  const plain = fault instanceof JsonFault ? replaceUnknownNumbers(text) : text;
  if (plain === text) throw fault;
  return plain;
}

function replaceUnknownNumbers(text: string): string {
  let plain = '';
  let copied = 0;
  let replaced = 0;
  numberOrQuote.lastIndex = 0;
  for (let match = numberOrQuote.exec(text); match; match = numberOrQuote.exec(text)) {
    if (match[0] === '"') {
      const end = trySkipString(text, match.index);
      if (end < 0) return text; // it breaks off within a string
      numberOrQuote.lastIndex = end >> 2;
    } else {
      replaced += 1;
      if (replaced > mostReplaced) return text;
      plain += `${text.slice(copied, match.index)}null`;
      copied = numberOrQuote.lastIndex;
    }
  }
  return plain + text.slice(copied);
}
