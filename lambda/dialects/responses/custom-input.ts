const opening = /^\s*\{\s*"input"\s*:\s*"/;
const longestOpening = 1_000;

/** The characters of a string and its escapes, one after the other. */
const characters = /[^"\\]+|\\(?:u.{4}|[^u])/gsy;

/** The first half of a character waits for the second. */
const endsInHalf = /[\ud800-\udbff]$/;

export type CustomInput = ReturnType<typeof createCustomInput>;

/**
 * The input of a custom tool as its arguments come. The model was told of a function with one text, `input`, so it answers with the
 * arguments `{"input": "…"}`. What is certain of the input is shown at once, and stays as it was shown.
 */
export function createCustomInput() {
  let rest = ''; // what has come and is not shown
  let isCertain = false;
  let isClosed = false;

  return {
    /** Takes a piece of the arguments; returns what can be shown of the input now. */
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
      let half = 0; // how long the last character is spelt
      for (const [spelt] of rest.matchAll(characters)) {
        const isEscape = spelt.startsWith('\\');
        text += isEscape ? decodeEscape(spelt) : spelt;
        read += spelt.length;
        half = isEscape ? spelt.length : 1;
      }
      if (endsInHalf.test(text) && read === rest.length) {
        text = text.slice(0, -1);
        read -= half;
      }
      isClosed = rest.charAt(read) === '"';
      rest = rest.slice(read);
      return text;
    },
    /** Whether it is certain what the input is. */
    get isCertain() {
      return isCertain;
    },
    /** Whether all of it could be shown, and the arguments end with it. */
    get isWhole() {
      return isClosed && /^"\s*\}\s*$/.test(rest);
    },
  };
}

/** Models also write escapes that JSON does not know. Those stay as they are. */
function decodeEscape(spelt: string): string {
  try {
    return JSON.parse(`"${spelt}"`);
  } catch {
    return spelt;
  }
}

/** The input in whole arguments. Some models send another object, or the text itself: then what they sent is the input. */
export function inputIn(text: string): string {
  try {
    const value = JSON.parse(text);
    const isInput = Object.keys(value).length === 1 && typeof value.input === 'string';
    return isInput ? value.input : text;
  } catch {
    return text;
  }
}
