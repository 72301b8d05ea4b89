/** What a terminal obeys, or what rearranges a line: controls, formats such as a change of direction, separators of lines. */
const unseen = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Text from outside, as one line that cannot rewrite the operator's screen. */
export const plainText = (text: string): string => text.replace(unseen, '?');

/** The same of several lines, and of columns set by tabs. */
export const plainLines = (text: string): string =>
  text.replace(unseen, (character) => (character === '\n' || character === '\t' ? character : '?'));

/** A JSON document that says the same, in characters that can all be seen. */
export const plainJson = (value: unknown): string => JSON.stringify(value).replace(unseen, escapeInJson);

const escapeInJson = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
