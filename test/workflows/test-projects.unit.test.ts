import { globSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import jestConfig from '../../jest.config.mjs';

/** One pattern per alternative in its braces: otherwise a renamed test would go unnoticed beside others that match. */
function eachWord(pattern: string): string[] {
  const [braces, words = ''] = /\{(.+?)\}/.exec(pattern) ?? [];
  if (braces === undefined) return [pattern];
  return words.split(',').flatMap((word) => eachWord(pattern.replace(braces, word)));
}

test('each pattern of a test project finds a test', () => {
  const patterns = jestConfig.projects.flatMap(({ testMatch }) => testMatch).flatMap(eachWord);
  const findsNone = (pattern: string) => globSync(pattern.replace(/^!\*\*|^<rootDir>\/test/, 'test')).length === 0;
  expect(patterns.length).toBeGreaterThan(30);
  expect(patterns.filter(findsNone)).toEqual([]);
});
