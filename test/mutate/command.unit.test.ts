import { expect, test } from '@jest/globals';
import { readCommand } from './command.ts';

test('paths, and a sample of them', () => {
  const all = { paths: ['lambda/quota'], sample: undefined, seed: 1, help: false };
  expect(readCommand(['lambda/quota'])).toEqual(all);
  expect(readCommand(['lambda/quota', '--sample', '40', '--seed', '7'])).toEqual({ ...all, sample: 40, seed: 7 });
  expect(readCommand(['--help']).help).toBe(true);
});

test.each([
  [[], 'no PATH was given'],
  [['a', '--sample', 'many'], '--sample takes a whole number, not many'],
  [['a', '--seed=-1'], '--seed takes a whole number, not -1'],
  [['a', '--colour'], "Unknown option '--colour'"],
])('refuses %j', (words, message) => {
  expect(() => readCommand(words)).toThrow(message);
});
