/** Reads a response chunk by chunk. */
export function createStreamReader(response: Response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const readOn = async (): Promise<boolean> => {
    const result = await reader?.read();
    text += result?.value ?? '';
    return result !== undefined && !result.done;
  };
  return {
    /** Waits until the text so far matches, and returns it. */
    async until(pattern: RegExp) {
      while (!pattern.test(text)) {
        if (!(await readOn())) throw new Error(`the answer ended without ${pattern}: ${text}`);
      }
      return text;
    },
    /** Waits for the end, and returns the whole text. */
    async rest() {
      while (await readOn());
      return text;
    },
    /** Disconnects. */
    leave: async () => reader?.cancel(),
  };
}
