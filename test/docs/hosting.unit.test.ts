import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { bytesAtRate, mostBurst, unitsOfWorstSecond } from '../../lambda/tables/counter-cost.ts';
import { writeUnits } from '../../lambda/tables/table.ts';
import { prices } from '../../operator/cost/prices.ts';

const text = readFileSync('docs/hosting.md', 'utf8');

test('the table of busy counters has their sizes and costs', () => {
  const [, table = ''] = /\| Charges a minute on one counter .*\n.*\n((?:\|.*\n)+)/.exec(text) ?? [];
  const rows = table.trim().split('\n');
  expect(rows.length).toBeGreaterThan(2);
  const inWords = (value: number, digits = 0) => value.toLocaleString('en-US', { maximumFractionDigits: digits });
  for (const row of rows) {
    const rate = Number(row.split('|')[1]?.replaceAll(',', ''));
    const units = writeUnits(bytesAtRate(rate));
    const price = (units * prices['DynamoDB on demand, a million write units']).toFixed(2);
    const each = `${inWords(bytesAtRate(rate))} B | ${units} | ${inWords((units * rate) / 60, 1)}`;
    expect(row).toBe(`| ${inWords(rate)} | ${each} | $${price} |`);
  }
});

test('the highest burst limit is that which the synthesis allows, and costs what the page says', () => {
  expect(/takes (\d+) units of the 1,000/.exec(text)?.[1]).toBe(String(unitsOfWorstSecond(mostBurst)));
  expect(/`BURST_LIMIT`\D+(\d+)/.exec(text)?.[1]).toBe(String(mostBurst));
  expect(/`BURST_LIMIT` .*at most (\d+)\]/.exec(readFileSync('docs/settings.md', 'utf8'))?.[1]).toBe(String(mostBurst));
});
