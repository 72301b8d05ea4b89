/** The name that a misspelt word most likely means; undefined if in all of them more than this share of the letters is wrong. */
export function nearest(word: string, names: readonly string[], share = 0.5): string | undefined {
  const ranked = names
    .map((name) => ({ name, distance: distanceBetween(fold(word), fold(name)) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best && best.distance <= Math.max(word.length, best.name.length) * share ? best.name : undefined;
}

/** Makes `guestLimit`, `guest-limit` and `GUEST_LIMIT` equal. */
function fold(text: string): string {
  return text.toLowerCase().replace(/[-_]/g, '');
}

/** How many letters must be added, removed, changed or swapped with the next (Levenshtein), row by row. */
function distanceBetween(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  let twoAbove: number[] = [];
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1];
    for (const [column, other] of [...b].entries()) {
      const change = (above[column] ?? 0) + (letter === other ? 0 : 1);
      const isSwap = letter === b[column - 1] && other === a[row - 1];
      const swap = isSwap ? (twoAbove[column - 1] ?? 0) + 1 : change;
      current.push(Math.min(change, swap, (above[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    twoAbove = above;
    above = current;
  }
  return above.at(-1) ?? 0;
}
