/** Untrusted text to quote in an error message: at most `longest` characters, all of them printable. */
export function excerpt(text: string, longest: number): string {
  const cut = text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
  return cut.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '');
}

/** The longest field path that a message quotes. */
export const longestPath = 200;
const longestId = 100;
/** How much of an id is checked: more than is quoted, but bounded, as V8 could overflow its stack on a run of millions of characters. */
const longestRead = 1_000;

/**
 * Quotes an id at the end of a sentence, `: 'gpt-5'`; empty if it may be a key. Hidden names stay: they are the caller's own words, and
 * removing them would reveal what is hidden.
 */
export function quoteUnlessKey(id: string): string {
  return mayBeKey(id) ? '' : `: '${excerpt(id, longestId)}'`;
}

/** `sk-…`, `ltk_…`; not `task-1`. */
const keyPrefix = /(?<![a-z])(sk|pk|rk|ltk)[-_]/i;
const uuid = /[\da-f]{8}(-[\da-f]{4}){3}-/i;
/** A long run of letters and digits, as in a token. The runs in `claude-sonnet-4-20250514` are shorter. */
const randomRun = /\w{20,}/g;

function mayBeKey(id: string): boolean {
  const text = id.slice(0, longestRead);
  const runs = text.match(randomRun) ?? [];
  return keyPrefix.test(text) || uuid.test(text) || runs.some((run) => /\d/.test(run) && /[a-z]/i.test(run));
}
