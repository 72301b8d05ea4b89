/** Mistakes that clients make when they append a path to a base URL: pattern, correction, description. */
const pathMistakes: readonly (readonly [RegExp, string, string])[] = [
  // Without the lookbehind, a long run of slashes would backtrack quadratically.
  [/(?<!\/)\/+$/, '', 'a slash too many at its end'],
  [/\/{2,}/g, '/', 'a slash too many'],
  [/^(\/v1){2,}(?=\/)/, '/v1', '/v1 more than once'],
  [/^(?!\/v1\/)/, '/v1', 'no /v1'],
];

/** The path that a client probably meant, and what is wrong with the one that it sent. */
export function correctPath(path: string): { readonly corrected: string; readonly faults: readonly string[] } {
  const faults: string[] = [];
  let corrected = path;
  for (const [mistake, correction, fault] of pathMistakes) {
    const before = corrected;
    corrected = corrected.replace(mistake, correction);
    if (corrected !== before) faults.push(fault);
  }
  return { corrected, faults };
}
