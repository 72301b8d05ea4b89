import { itemSize, writeUnits } from './item-size.ts';
import type { Item } from './table.ts';
import { kept, sliceLength } from './write-once.ts';

/** The write units that one partition, and so one item, takes in a second. */
export const unitsPerSecond = 1_000;

const anyToken = 'AAAAAAA=';
const anySlice = Math.floor(Date.UTC(2026, 10, 21) / sliceLength);
const number = (value: number) => ({ N: String(value) });

/** A counter's item with the longest possible name, and with these numbers of tokens in the last seconds, the latest first. */
function counterItem(tokens: readonly number[]): Item {
  const slices = tokens.map((count, ago) => [`c${anySlice - ago}`, { BS: Array<string>(count).fill(anyToken) }]);
  const fence = Array.from({ length: kept }, (_, remainder) => [`f${remainder}`, number(anySlice)]);
  return {
    pk: { S: `count_tokens#member#0x${'0'.repeat(40)}` },
    ttl: number(1_800_000_000),
    used: number(9_999_999),
    nhtbry: number(9_999),
    nhtbrx: number(9_999),
    ...Object.fromEntries([...slices, ...fence]),
  };
}

/** The bytes of a counter with this many charges a minute, evenly spread, at the end of a second, when it is largest. */
export function bytesAtRate(chargesPerMinute: number): number {
  return itemSize(counterItem(Array(kept).fill(Math.ceil(chargesPerMinute / 60))));
}

/** The units that this many charges within one second take. */
export function unitsOfBurst(charges: number): number {
  const [empty, token] = [itemSize(counterItem([0])), itemSize(counterItem([1])) - itemSize(counterItem([0]))];
  let units = 0;
  for (let charge = 1; charge <= charges; charge += 1) units += writeUnits(empty + charge * token);
  return units;
}

/**
 * The highest BURST_LIMIT that one item can serve in its worst second: when a minute ends, and everything that it and the next
 * allow comes at once.
 */
export const mostBurst = findMostBurst();

function findMostBurst(): number {
  let burst = 1;
  while (unitsOfBurst(2 * (burst + 1)) <= unitsPerSecond) burst += 1;
  return burst;
}
