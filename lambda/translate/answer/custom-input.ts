const opening = /^\s*\{\s*"input"\s*:\s*"/;
const longestOpening = 1_000;

/**
 * The input of a custom tool, which is text. The model was told of a function with one text, `input`, so it answers with the
 * arguments `{"input": "…"}`. Others send another object, or the text itself: then what they sent is the input.
 * `live`: whether to show pieces as soon as it is certain that they are the input.
 */
export function createCustomInput(live: boolean) {
  let whole = '';
  let read: number | undefined; // of the whole, from where on the input is certain
  let isClosed = false;
  let shown = '';

  function show(text: string): string {
    shown += text;
    return text;
  }

  /** The text between `read` and the closing quote, as far as it has come. */
  function readOn(from: number): string {
    let text = '';
    let at = from;
    while (at < whole.length && !isClosed) {
      const character = whole.charAt(at);
      const length = character === '\\' ? escapeLength(whole, at) : 1;
      if (length === undefined) break;
      if (character === '"') isClosed = true;
      else text += length === 1 ? character : decodeEscape(whole.slice(at, at + length));
      at += length;
    }
    read = at;
    return text;
  }

  return {
    /** Takes a piece of the arguments; returns what can be shown of the input now. */
    push(piece: string): string {
      whole += piece;
      if (live && read === undefined && whole.length - piece.length < longestOpening) {
        read = opening.exec(whole)?.[0].length;
      }
      return read === undefined || isClosed ? '' : show(readOn(read));
    },
    /** What is still to show, once the arguments are complete. What was shown stays as it is. */
    end: (): string => (read === undefined ? show(unwrap(whole)) : ''),
    /** Everything shown so far. */
    get shown() {
      return shown;
    },
  };
}

/** How long an escape is; undefined if the rest of it is still to come. */
function escapeLength(text: string, at: number): number | undefined {
  const length = text.charAt(at + 1) === 'u' ? 6 : 2;
  return at + length <= text.length ? length : undefined;
}

/** Models also write escapes that JSON does not know. Those stay as they are. */
function decodeEscape(spelt: string): string {
  try {
    return JSON.parse(`"${spelt}"`);
  } catch {
    return spelt;
  }
}

function unwrap(text: string): string {
  try {
    const value = JSON.parse(text);
    const isInput = Object.keys(value).length === 1 && typeof value.input === 'string';
    return isInput ? value.input : text;
  } catch {
    return text;
  }
}
