import fc from 'fast-check';

// The same inputs in every run; `SEED=2 npm run test:unit` tries others. A property that fails prints its seed.
fc.configureGlobal({ seed: Number(process.env.SEED ?? 1) });

/** A text or bytes in pieces, cut at any offsets. */
export function cut<T extends string | Uint8Array>(whole: T, offsets: readonly number[]): T[] {
  const cuts = offsets.map((offset) => offset % (whole.length + 1)).sort((a, b) => a - b);
  const edges = [0, ...cuts, whole.length];
  return edges.slice(1).map((edge, index) => whole.slice(edges[index], edge) as T);
}

export default fc;
