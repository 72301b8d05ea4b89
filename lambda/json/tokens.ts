export const quote = 0x22;
const backslash = 0x5c;
const [minus, plus, point, zero, nine] = [0x2d, 0x2b, 0x2e, 0x30, 0x39] as const;

/** The character code at an offset, -1 at the end of the text. */
export function codeAt(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) : -1;
}

/** The offset of the first character at or after `at` that is not white space. */
export function skipSpace(text: string, at: number): number {
  return at < text.length && text.charCodeAt(at) > 0x20 ? at : skipSpaces(text, at);
}

function skipSpaces(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
  }
  return at;
}

// The first characters are checked one by one, which is cheapest for short strings, and most are short. Then a regular expression takes
// over, escapes included. It runs in bounded steps: while V8 interprets a regular expression (`--no-regexp-optimization`, or a process
// with much else to compile), each iteration of a loop takes stack, which could overflow.
const shortRun = 48;
const longestRun = 65_536;
const run = /(?:[ !#-[\]-\uffff]+|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})){1,500}/y;

/**
 * The end of the string that starts at `start`, shifted left by two, plus 1 if it contains a backslash. If it is incomplete or invalid,
 * or goes past `until`, the bitwise complement of the offset reached; a later call may continue `from` there.
 */
export function trySkipString(text: string, start: number, from = start + 1, until = text.length): number {
  let at = from;
  for (const runEnd = Math.min(at + shortRun, text.length); at < runEnd; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return (at + 1) << 2;
    if (code === backslash || code < 0x20) break;
  }
  for (run.lastIndex = 0; at < until && run.test(text.slice(at, at + longestRun)); run.lastIndex = 0) {
    at += run.lastIndex;
  }
  if (codeAt(text, at) !== quote) return ~at;
  return ((at + 1) << 2) | (text.slice(start, at).includes('\\') ? 1 : 0);
}

/** What is wrong with a string at this offset. */
export function faultInString(text: string, at: number): JsonFault {
  const code = codeAt(text, at);
  if (code === -1) return faultAt(text, at, 'expected the closing quote of a string');
  if (code !== backslash) return faultAt(text, at, 'a control character in a string must be escaped');
  if (codeAt(text, at + 1) !== 0x75) {
    return faultAt(text, at + 1, 'a backslash must be followed by one of " \\ / b f n r t u');
  }
  const digits = /^[\da-f]*/i.exec(text.slice(at + 2, at + 6))?.[0].length ?? 0;
  return faultAt(text, at + 2 + digits, 'expected four hexadecimal digits');
}

/** The end of the number that starts at `at`; if it is invalid, the bitwise complement of the offset of the fault. */
export function trySkipNumber(text: string, at: number): number {
  const first = codeAt(text, at) === minus ? at + 1 : at;
  let digits = first;
  let end = skipDigits(text, digits);
  if (end > first + 1 && text.charCodeAt(first) === zero) return ~first;
  if (end > digits && codeAt(text, end) === point) {
    digits = end + 1;
    end = skipDigits(text, digits);
  }
  // This bit turns `E` into `e`, and no other character.
  if (end > digits && (codeAt(text, end) | 0x20) === 0x65) {
    const sign = codeAt(text, end + 1);
    digits = sign === plus || sign === minus ? end + 2 : end + 1;
    end = skipDigits(text, digits);
  }
  return end > digits ? end : ~end;
}

/** What is wrong at this offset with the value that starts at `start`. */
export function faultInNumber(text: string, start: number, at: number): JsonFault {
  if (at === start && !isDigit(codeAt(text, at))) return faultAt(text, at, 'expected a value');
  const isZero = codeAt(text, at) === zero;
  return faultAt(text, at, isZero ? 'a number must not start with a needless zero' : 'expected a digit');
}

/** The offset of the first character at or after `at` that is not a digit. */
export function skipDigits(text: string, at: number): number {
  let end = at;
  while (end < text.length && isDigit(text.charCodeAt(end))) end++;
  return end;
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine;
}

/** The end of the literal `true`, `false` or `null` at `at`; undefined if there is none. */
export function skipWord(text: string, at: number): number | undefined {
  if (text.startsWith('null', at) || text.startsWith('true', at)) return at + 4;
  return text.startsWith('false', at) ? at + 5 : undefined;
}

/** Says what is wrong with a text, and where, without quoting it. */
export class JsonFault extends Error {
  override readonly name: string = 'JsonFault';
}

/** A text that may be valid JSON, but exceeds a limit of the gateway. */
export class JsonLimit extends JsonFault {
  override readonly name = 'JsonLimit';
}

export const faultAt = (text: string, offset: number, what: string): JsonFault =>
  new JsonFault(describeFault(text, offset, what));

export const limitAt = (text: string, offset: number, what: string): JsonLimit =>
  new JsonLimit(describeFault(text, offset, what));

function describeFault(text: string, offset: number, what: string): string {
  const ended = offset < text.length ? '' : ', but the text ends here';
  return `${place(text, offset)}: ${what}${ended}`;
}

/** A hostile text may be nothing but line ends, which would take long to count. */
const mostLines = 100_000;

function place(text: string, offset: number): string {
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', lineStart)) {
    line++;
    lineStart = at + 1;
    if (line > mostLines) return `character ${offset + 1}`;
  }
  return `line ${line}, column ${offset - lineStart + 1}`;
}
