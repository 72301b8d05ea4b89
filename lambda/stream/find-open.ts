import { type CreateFindOpen, isPlain } from './find-names.ts';

/** What folds to an ASCII letter, as in a pattern that ignores case. */
const folding = /[A-Z\u017f\u212a]/g;
const fold = (text: string) => text.replace(folding, (letter) => (letter === '\u017f' ? 's' : letter.toLowerCase()));

/** Finds the beginnings of plain names without a pattern, which would be faster for a few. */
export const createFindOpen: CreateFindOpen = (names) => {
  const sorted = names.filter(isPlain).map(fold).sort();
  // Rules out most places: keys begin alike.
  const begins = new Set(sorted.map((name) => name.charAt(0)));
  const longest = Math.max(0, ...sorted.map((name) => name.length));
  return (text, from, last) => {
    const begin = Math.max(from, text.length - longest + 1);
    if (begin > last) return undefined;
    const tail = fold(text.slice(begin));
    for (let at = 0; at < tail.length && begin + at <= last; at += 1) {
      if (!begins.has(tail.charAt(at))) continue;
      const open = tail.slice(at);
      if (firstAfter(sorted, open)?.startsWith(open)) return { start: begin + at, end: text.length, open };
    }
    return undefined;
  };
};

/** The first text of an ordered list that comes after this one: if any is a longer one that begins with it, this is. */
function firstAfter(sorted: readonly string[], text: string): string | undefined {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') > text) high = middle;
    else low = middle + 1;
  }
  return sorted[low];
}
