import { describe, expect, test } from '@jest/globals';
import { costOf, savedByCaches } from '../../../lambda/budget/prices.ts';

describe('costOf', () => {
  const prices = { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000 };

  test('tokens of the caches are part of the input, and each kind has its price', () => {
    // 1,000 × 3.00 + 8,000 × 0.30 + 500 × 3.75 + 200 × 15.00 = 10,275 for a million tokens
    expect(costOf(prices, { input: 9_500, cacheRead: 8_000, cacheWrite: 500, output: 200 })).toBe(10_275);
  });

  test('what caches saved is what their tokens would have cost as input, less what they cost', () => {
    // 8,000 × (3.00 - 0.30) - 500 × (3.75 - 3.00)
    expect(savedByCaches(prices, { input: 9_500, cacheRead: 8_000, cacheWrite: 500, output: 200 })).toBe(21_225);
    expect(savedByCaches(prices, { input: 500, cacheWrite: 500 })).toBe(-375);
    expect(savedByCaches(prices, { input: 500, cacheRead: 500 })).toBe(1_350);
    expect(savedByCaches(prices, { input: 500, output: 200 })).toBe(0);
  });

  test('the sum is rounded up once', () => {
    const cheap = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
    expect(costOf(cheap, { input: 2, cacheRead: 1, output: 1 })).toBe(1);
    expect(costOf(cheap, { input: 1_000_000 })).toBe(1);
    expect(costOf(cheap, { input: 999_999, output: 2 })).toBe(2);
    expect(costOf(cheap, {})).toBe(0);
  });

  test('a cache larger than the prompt makes nothing cheaper', () => {
    expect(costOf(prices, { input: 0, cacheRead: 1_000_000 })).toBe(300_000);
  });

  test('impossible numbers of tokens become the largest amount', () => {
    const most = Number.MAX_SAFE_INTEGER;
    expect(costOf(prices, { input: most, output: most })).toBe(most);
  });
});
