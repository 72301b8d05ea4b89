/** Reads an answer piece by piece. */
export interface StreamReader {
  /** Waits until the text so far matches, and returns it. */
  until(pattern: RegExp): Promise<string>;
  /** Waits for the end, and returns the whole text. */
  rest(): Promise<string>;
  /** Disconnects. */
  leave(): Promise<void>;
}

export function createStreamReader(response: Response): StreamReader {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const readOn = async (): Promise<boolean> => {
    const result = await reader?.read();
    text += result?.value ?? '';
    return result !== undefined && !result.done;
  };
  return {
    async until(pattern) {
      while (!pattern.test(text)) {
        if (!(await readOn())) throw new Error(`the answer ended without ${pattern}: ${text}`);
      }
      return text;
    },
    async rest() {
      while (await readOn());
      return text;
    },
    leave: async () => reader?.cancel(),
  };
}
