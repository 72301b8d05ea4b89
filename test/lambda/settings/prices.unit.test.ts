import { expect, test } from '@jest/globals';
import { createModels } from '../../../lambda/settings/models.ts';
import { readPrices } from '../../../lambda/settings/read-prices.ts';
import { testRows } from '../../support/test-rows.ts';

const other = '"svc-vision": {"input": 1, "output": 2}';

function read(text: string, offersEmbeddings = false) {
  const faults: string[] = [];
  const prices = readPrices(text, createModels({ serviceName: 'svc', offersEmbeddings }).all, faults);
  return { prices: Object.fromEntries(prices), faults };
}

test('prices are read exactly, and cached tokens without a price cost as much as input', () => {
  const text = `{"svc": {"input": 4.35, "output": 0.000001, "cacheRead": 0, "maxOutput": 64000}, ${other}}`;
  expect(read(text)).toEqual({
    prices: {
      svc: { input: 4_350_000, output: 1, cacheRead: 0, cacheWrite: 4_350_000, maxOutput: 64_000 },
      'svc-vision': { input: 1_000_000, output: 2_000_000, cacheRead: 1_000_000, cacheWrite: 1_000_000 },
    },
    faults: [],
  });
});

test('an embedding costs its input', () => {
  const chat = `"svc": {"input": 1, "output": 2}, ${other}`;
  expect(read(`{${chat}, "svc-embedding": {"input": 0.02}}`, true)).toMatchObject({
    prices: { 'svc-embedding': { input: 20_000, output: 0 } },
    faults: [],
  });
  expect(read(`{${chat}}`, true).faults).toEqual(['lacks svc-embedding: every public model needs a price']);
});

const shape = 'must be a JSON object of models, such as {"svc": {"input": 2.50, "output": 10}}';
const decimal = 'a decimal from 0 to 1000000 with at most six places, such as 2.50';
testRows<[string, string[]]>([
  ['[]', [shape]],
  ['{', [shape]],
  ['{"svc": {"input": 1', [shape]],
  [
    '{svc: {input: 2.50, output: 10}}',
    [`${shape}: a shell has taken its quotation marks away, so put the whole of it between two ' in that file`],
  ],
  [
    `'{${other}}'`,
    [`${shape}: it came with quotation marks around it, which docker --env-file keeps, so leave them out there`],
  ],
  [`{${other}}`, ['lacks svc: every public model needs a price']],
  [`{"svc": {"input": 1, "output": 2}, ${other}, "opus": {}}`, ['names opus, which must be svc or svc-vision']],
  [`{"svc": 3, ${other}}`, ['needs an object with input and output for svc']],
  [`{"svc": {"input": 1}, ${other}}`, ['lacks output of svc']],
  [
    `{"svc": {"input": 1, "output": 2, "cached": 1}, ${other}}`,
    ['names cached of svc, which must be input, output, cacheRead, cacheWrite, maxOutput'],
  ],
  ...['-1', '"1"', 'null', '[1]', '0.0000001', '1000000.000001'].map((price): [string, string[]] => [
    `{"svc": {"input": ${price}, "output": 2}, ${other}}`,
    [`needs ${decimal} for input of svc`],
  ]),
  ...['0', '1.5', '"9"', '100000001'].map((most): [string, string[]] => [
    `{"svc": {"input": 1, "output": 2, "maxOutput": ${most}}, ${other}}`,
    ['needs a whole number from 1 to 100000000 for maxOutput of svc'],
  ]),
])('faults of prices are named', (text, expected) => {
  expect(read(text).faults).toEqual(expected);
});

test('all faults of prices are named at once', () => {
  expect(read('{"svc": {"input": -1, "price": 2}, "gpt": {}}').faults).toHaveLength(5);
});
