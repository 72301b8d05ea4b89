import { type Cooperative, charactersPerSlice, isLong } from '../../json/cooperative.ts';
import type { Raw } from './asking.ts';

/** A text as a JSON string. */
export const quote = (text: string): string => JSON.stringify(text);

/** JSON text as a string that holds it, unchanged. */
export function* quoteJson(json: string): Cooperative<Raw> {
  if (!isLong(json)) return quote(json);
  const pieces = ['"'];
  for (let at = 0, end = 0; at < json.length; at = end) {
    end = at + charactersPerSlice;
    // The halves of a character would be written as escapes, each for itself.
    if (highSurrogate.test(json.charAt(end - 1))) end += 1;
    pieces.push(inside(quote(json.slice(at, end))));
    yield;
  }
  return [...pieces, '"'];
}

const highSurrogate = /[\uD800-\uDBFF]/;

/** What stands between the quotes of a string. */
export const inside = (string: string): string => string.slice(1, -1);

/** Strings joined to one. `between` is what stands between them, as it is written in JSON. */
export function joinStrings(strings: readonly Raw[], between: string): Raw {
  const pieces = strings.flatMap((string, index) => {
    const text = typeof string === 'string' ? [inside(string)] : withoutQuotes(string);
    return index === 0 ? text : [between, ...text];
  });
  return ['"', ...pieces, '"'];
}

/** A string with a text before it. */
export const prefixString = (prefix: string, string: Raw): Raw => joinStrings([quote(prefix), string], '');

/** A string in pieces begins and ends with a quote, too. */
function withoutQuotes(pieces: readonly string[]): string[] {
  const last = pieces.length - 1;
  return pieces.map((piece, index) => piece.slice(index === 0 ? 1 : 0, index === last ? -1 : undefined));
}
