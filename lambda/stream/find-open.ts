import { type CreateFindOpen, isPlain } from './find-names.ts';

/** What folds to an ASCII letter, as in a pattern that ignores case. */
const folding = /[A-Z\u017f\u212a]/g;
const fold = (text: string) => text.replace(folding, (letter) => (letter === '\u017f' ? 's' : letter.toLowerCase()));

/** Finds the beginnings of plain names without a pattern, which would be faster for a few. */
export const createFindOpen: CreateFindOpen = (names) => {
  const sorted = names.filter(isPlain).map(fold).sort();
  const longest = Math.max(0, ...sorted.map((name) => name.length));
  return (text, from, last) => {
    const end = Math.min(text.length, last + 1);
    for (let start = Math.max(from, text.length - longest + 1); start < end; start += 1) {
      const open = fold(text.slice(start));
      if (firstAfter(sorted, open)?.startsWith(open)) return { start, end: text.length, open };
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
