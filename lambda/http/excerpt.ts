/** What a message repeats of a text that somebody else wrote: at most so many characters, all of them printable. */
export function excerpt(text: string, longest: number): string {
  const cut = text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
  return cut.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '');
}

/** Of the path of a field in a body. */
export const longestPath = 200;
const longestId = 100;

/** An id for the end of a sentence, `: 'gpt-5'`; nothing of one that may be a key, which is never repeated. */
export function quoteUnlessKey(id: string): string {
  return mayBeKey(id) ? '' : `: '${excerpt(id, longestId)}'`;
}

const keyPrefix = /(?<![a-z])(sk|pk|rk|ltk)[-_]/i;
const uuid = /[\da-f]{8}(-[\da-f]{4}){3}-/i;
/** Letters and digits in one long run: the names of models have shorter ones. */
const randomRun = /\w{20,}/g;

function mayBeKey(text: string): boolean {
  const runs = text.match(randomRun) ?? [];
  return keyPrefix.test(text) || uuid.test(text) || runs.some((run) => /\d/.test(run) && /[a-z]/i.test(run));
}
