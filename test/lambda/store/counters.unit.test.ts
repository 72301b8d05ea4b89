import { expect, test } from '@jest/globals';
import { createToken } from '../../../lambda/store/counters.ts';

test('each token has 64 different bits', () => {
  const tokens = Array.from({ length: 2_000 }, createToken);
  expect(new Set(tokens).size).toBe(tokens.length);
  expect(new Set(tokens.map((token) => Buffer.from(token, 'base64').length))).toEqual(new Set([8]));
});
