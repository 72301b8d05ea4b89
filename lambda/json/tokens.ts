import { JsonFault } from './fault.ts';

export const quote = 0x22;
const backslash = 0x5c;
const [minus, plus, point, zero, nine] = [0x2d, 0x2b, 0x2e, 0x30, 0x39] as const;

/** The character code at an offset, -1 at the end of the text. */
export function codeAt(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) : -1;
}

/** The offset of the first character from `at` on that is no white space. */
export function skipSpace(text: string, at: number): number {
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x20 || (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)) break;
  }
  return at;
}

// So many characters are looked at one by one, which is cheapest for the short strings that most are; then a search at
// native speed takes over. It finds what the loop stops at: a quote, a backslash or a control character.
const shortRun = 48;
const endOfRun = /[^ !#-[\]-\uffff]/g;

/** The end of the string that starts at `start`, shifted left by two, plus 1 where it holds a backslash. */
export function skipString(text: string, start: number): number {
  let escaped = 0;
  let at = start + 1;
  for (;;) {
    const runEnd = Math.min(at + shortRun, text.length);
    let code = -1;
    for (; at < runEnd; at++) {
      code = text.charCodeAt(at);
      if (code === quote || code === backslash || code < 0x20) break;
    }
    if (at === runEnd) {
      endOfRun.lastIndex = at;
      at = endOfRun.test(text) ? endOfRun.lastIndex - 1 : text.length;
      code = codeAt(text, at);
    }
    if (code === quote) return ((at + 1) << 2) | escaped;
    if (code === -1) throw new JsonFault(text, at, 'expected the closing quote of a string');
    if (code !== backslash) throw new JsonFault(text, at, 'a control character in a string must be escaped');
    escaped = 1;
    at = skipEscape(text, at);
  }
}

function skipEscape(text: string, at: number): number {
  switch (codeAt(text, at + 1)) {
    case quote:
    case backslash:
    case 0x2f: // slash
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return at + 2;
    case 0x75: // u
      for (let digit = at + 2; digit < at + 6; digit++) {
        if (!isHexDigit(codeAt(text, digit))) throw new JsonFault(text, digit, 'expected four hexadecimal digits');
      }
      return at + 6;
    default:
      throw new JsonFault(text, at + 1, 'a backslash must be followed by one of " \\ / b f n r t u');
  }
}

function isHexDigit(code: number): boolean {
  const lower = code | 0x20;
  return isDigit(code) || (lower >= 0x61 && lower <= 0x66);
}

/** The end of the number that starts at `at`. */
export function skipNumber(text: string, at: number): number {
  const first = codeAt(text, at) === minus ? at + 1 : at;
  if (first === at && !isDigit(codeAt(text, at))) throw new JsonFault(text, at, 'expected a value');
  let end = skipDigits(text, first);
  if (end > first + 1 && text.charCodeAt(first) === zero) {
    throw new JsonFault(text, first, 'a number must not start with a needless zero');
  }
  if (codeAt(text, end) === point) end = skipDigits(text, end + 1);
  // Setting this bit turns E into e and no other character into it.
  if ((codeAt(text, end) | 0x20) === 0x65) {
    const sign = codeAt(text, end + 1);
    end = skipDigits(text, sign === plus || sign === minus ? end + 2 : end + 1);
  }
  return end;
}

function skipDigits(text: string, at: number): number {
  if (!isDigit(codeAt(text, at))) throw new JsonFault(text, at, 'expected a digit');
  let end = at + 1;
  while (end < text.length && isDigit(text.charCodeAt(end))) end++;
  return end;
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine;
}

/** The end of the word `true`, `false` or `null` that starts at `at`; undefined where none does. */
export function skipWord(text: string, at: number): number | undefined {
  if (text.startsWith('null', at) || text.startsWith('true', at)) return at + 4;
  return text.startsWith('false', at) ? at + 5 : undefined;
}
