import { describe, expect, test } from '@jest/globals';
import { costOf, type Prices, readPrices, savedByCaches } from '../../../lambda/budget/prices.ts';

const models = ['svc', 'svc-vision'];
const other = '"svc-vision": {"input": 1, "output": 2}';

function read(text: string): { prices: Prices; faults: string[] } {
  const faults: string[] = [];
  return { prices: readPrices(text, models, faults), faults };
}

describe('readPrices', () => {
  test('reads decimals exactly, and takes the input price for a cache without one', () => {
    const { prices, faults } = read(
      `{"svc": {"input": 4.35, "output": 0.000001, "cacheRead": 0, "maxOutput": 64000}, ${other}}`,
    );
    expect(faults).toEqual([]);
    expect(Object.fromEntries(prices)).toEqual({
      svc: { input: 4_350_000, output: 1, cacheRead: 0, cacheWrite: 4_350_000, maxOutput: 64_000 },
      'svc-vision': { input: 1_000_000, output: 2_000_000, cacheRead: 1_000_000, cacheWrite: 1_000_000 },
    });
  });

  const shape = 'must be a JSON object of models, such as {"svc": {"input": 2.50, "output": 10}}';
  const decimal = 'a decimal from 0 to 1000000 with at most six places, such as 2.50';
  test.each([
    ['', [shape]],
    ['[]', [shape]],
    ['{', [shape]],
    [`{${other}}`, ['lacks svc: every public model needs a price']],
    [`{"svc": {"input": 1, "output": 2}, ${other}, "opus": {}}`, ['names opus, which must be svc or svc-vision']],
    [`{"svc": {"input": 1, "output": 2}, ${other}, "svc": {"input": 1, "output": 2}}`, ['names svc twice']],
    [`{"svc": 3, ${other}}`, ['needs an object with input and output for svc']],
    [`{"svc": {"input": 1, "output": 2}, ${other}, "s\\u0076c": {"input": 1, "output": 0}}`, ['names svc twice']],
    [`{"svc": {"input": 1}, ${other}}`, ['lacks output of svc']],
    [`{"svc": {"input": 1, "output": 2, "output": 0}, ${other}}`, ['names output twice']],
    [
      `{"svc": {"input": 1, "output": 2, "cached": 1}, ${other}}`,
      ['names cached of svc, which must be input, output, cacheRead, cacheWrite, maxOutput'],
    ],
    ...['-1', '1e-3', '"1"', 'null', '[1]', '{}', 'true', '0.0000001', '1000000.000001'].map(
      (price): [string, string[]] => [
        `{"svc": {"input": ${price}, "output": 2}, ${other}}`,
        [`needs ${decimal} for input of svc`],
      ],
    ),
    ...['0', '1.5', '"9"', '100000001'].map((most): [string, string[]] => [
      `{"svc": {"input": 1, "output": 2, "maxOutput": ${most}}, ${other}}`,
      ['needs a whole number from 1 to 100000000 for maxOutput of svc'],
    ]),
  ])('%s', (text, expected) => {
    expect(read(text).faults).toEqual(expected);
  });

  test('names all faults at once', () => {
    expect(read('{"svc": {"input": -1, "price": 2}, "gpt": {}}').faults).toHaveLength(5);
  });
});

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
  });

  test('the sum is rounded up once', () => {
    const cheap = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
    expect(costOf(cheap, { input: 2, cacheRead: 1, output: 1 })).toBe(1);
    expect(costOf(cheap, { input: 1_000_000 })).toBe(1);
    expect(costOf(cheap, { input: 999_999, output: 2 })).toBe(2);
    expect(costOf(cheap, {})).toBe(0);
  });

  test('caches that hold more than the prompt make nothing cheaper', () => {
    expect(costOf(prices, { input: 0, cacheRead: 1_000_000 })).toBe(300_000);
  });

  test('impossible numbers of tokens become the largest amount', () => {
    const most = Number.MAX_SAFE_INTEGER;
    expect(costOf(prices, { input: most, output: most })).toBe(most);
  });
});
