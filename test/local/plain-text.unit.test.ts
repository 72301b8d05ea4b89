import { expect, test } from '@jest/globals';
import { plainJson, plainLines, plainText } from '../../local/plain-text.ts';

/** Escape, CSI of one byte, a change of direction, a width of nothing, a separator, a tag beyond 16 bits, half a character. */
const unseen = ['\u001b', '\u009b', '\u202e', '\u200b', '\u2028', '\u2029', '\u{e0041}', '\ud800', '\r'];

test('a text from outside is one line of what can be seen', () => {
  expect(plainText(`é 模型 🙂${unseen.join('')}\n\t!`)).toBe(`é 模型 🙂${'?'.repeat(unseen.length + 2)}!`);
});

test('several lines keep their ends and tabs', () => {
  expect(plainLines(`a\tb\n${unseen.join('')}\n`)).toBe(`a\tb\n${'?'.repeat(unseen.length)}\n`);
});

test('a JSON document means the same, with nothing in it that can’t be seen', () => {
  const value = { [unseen.join('')]: ['é 模型 🙂', ...unseen, '\n'] };
  expect(JSON.parse(plainJson(value))).toEqual(value);
  expect(plainJson(value)).toBe(plainText(plainJson(value)));
});
