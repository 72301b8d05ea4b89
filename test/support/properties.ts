import fc from 'fast-check';

// The same inputs in every run. `SEED=2 npm run test:unit` tries others. A failing property prints its seed.
fc.configureGlobal({ seed: Number(process.env.SEED ?? 1) });

/** How many inputs to draw. */
export const many = (usual: number): number => usual * (Reflect.get(globalThis, 'timesInputs') ?? 1);

/** A character up to this code point. fast-check's own `binary` takes a second to list all of them. */
export const upTo = (max: number) =>
  fc
    .nat({ max })
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code));

/** Cuts a string or bytes into chunks at these offsets. */
export function cut<T extends string | Uint8Array>(whole: T, offsets: readonly number[]): T[] {
  const cuts = offsets.map((offset) => offset % (whole.length + 1)).sort((a, b) => a - b);
  const edges = [0, ...cuts, whole.length];
  return edges.slice(1).map((edge, index) => whole.slice(edges[index], edge) as T);
}

export default fc;
