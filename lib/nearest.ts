/** The name that a misspelt word most likely means; undefined if none is close. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, distance: distanceBetween(fold(word), fold(name)) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best && best.distance <= Math.max(word.length, best.name.length) / 2 ? best.name : undefined;
}

/** Makes `guestLimit`, `guest-limit` and `GUEST_LIMIT` equal. */
function fold(text: string): string {
  return text.toLowerCase().replace(/[-_]/g, '');
}

/** How many letters must be added, removed or changed (Levenshtein), row by row. */
function distanceBetween(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1];
    for (const [column, other] of [...b].entries()) {
      const change = (above[column] ?? 0) + (letter === other ? 0 : 1);
      current.push(Math.min(change, (above[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    above = current;
  }
  return above.at(-1) ?? 0;
}
