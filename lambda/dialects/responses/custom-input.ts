const opening = /^\s*\{\s*"input"\s*:\s*"/;
const longestOpening = 1_000;

/** Runs of plain characters, and escapes. */
const characters = /[^"\\]+|\\(?:u.{4}|[^u])/gsy;

/** Half of a surrogate pair waits for the other. */
const endsInHalf = /[\ud800-\udbff]$/;

export type CustomInput = ReturnType<typeof createCustomInput>;

/**
 * Extracts the input of a custom tool while its arguments stream in. The model was offered a function with one text, `input`, so it sends
 * the arguments `{"input": "…"}`. The input is shown as soon as it is certain, and can't be changed afterwards.
 */
export function createCustomInput() {
  let rest = ''; // received, but not shown
  let isCertain = false;
  let isClosed = false;

  return {
    /** Takes a piece of the arguments, and returns the piece of the input that can be shown now. */
    push(piece: string): string {
      if (!isCertain && rest.length >= longestOpening) return '';
      rest += piece;
      if (isClosed) return '';
      if (!isCertain) {
        const [begun] = opening.exec(rest) ?? [];
        if (begun === undefined) return '';
        isCertain = true;
        rest = rest.slice(begun.length);
      }
      let text = '';
      let read = 0;
      let lastLength = 0; // of the last character's spelling
      for (const [spelling] of rest.matchAll(characters)) {
        const isEscape = spelling.startsWith('\\');
        text += isEscape ? decodeEscape(spelling) : spelling;
        read += spelling.length;
        lastLength = isEscape ? spelling.length : 1;
      }
      if (endsInHalf.test(text) && read === rest.length) {
        text = text.slice(0, -1);
        read -= lastLength;
      }
      isClosed = rest.charAt(read) === '"';
      rest = rest.slice(read);
      return text;
    },
    /** Whether the arguments begin as expected, so that the input is certain. */
    get isCertain() {
      return isCertain;
    },
    /** Whether the whole input was shown, and the arguments end with it. */
    get isWhole() {
      return isClosed && /^"\s*\}\s*$/.test(rest);
    },
  };
}

/** Models also write escapes that are not valid in JSON. Those stay as they are. */
function decodeEscape(spelling: string): string {
  try {
    return JSON.parse(`"${spelling}"`);
  } catch {
    return spelling;
  }
}

/** The input in complete arguments. Some models send another object, or the plain text: then all of it is the input. */
export function inputIn(text: string): string {
  try {
    const value = JSON.parse(text);
    const isInput = Object.keys(value).length === 1 && typeof value.input === 'string';
    return isInput ? value.input : text;
  } catch {
    return text;
  }
}
