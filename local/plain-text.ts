/** Characters that control a terminal or rearrange a line: controls, formats such as direction marks, line separators. */
const unseen = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Makes untrusted text a single line that can't manipulate the operator's terminal. */
export const plainText = (text: string): string => text.replace(unseen, '?');

/** The same, but keeps newlines and tabs. */
export const plainLines = (text: string): string =>
  text.replace(unseen, (character) => (character === '\n' || character === '\t' ? character : '?'));

/** Equivalent JSON with invisible characters escaped. */
export const plainJson = (value: unknown): string => JSON.stringify(value).replace(unseen, escapeInJson);

const escapeInJson = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
