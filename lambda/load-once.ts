/**
 * Has a part of the code read by whoever needs it first. An `import()` of what has been read takes Node 6 µs, and up to 40 in a
 * young process.
 */
export function loadOnce<Part>(load: () => Promise<Part>): () => Promise<Part> {
  let loading: Promise<Part> | undefined;
  return () => {
    loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}
