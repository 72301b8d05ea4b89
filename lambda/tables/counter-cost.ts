import { markToken } from '../quota/counter-store.ts';
import { type Item, itemSize, numberValue, type Value, writeUnits } from './table.ts';

/** The write units that one partition, and so one item, takes in a second. */
export const unitsPerSecond = 1_000;

const anyToken = 'AAAAAAAAAAA=';

/** The tokens of a minute's charges, and of their refunds where all are refunded. */
function tokens(charges: number, allRefunded = false) {
  const ofRefunds = allRefunded ? Array<string>(charges).fill(markToken(anyToken, 'r')) : [];
  return { BS: [...Array<string>(charges).fill(anyToken), ...ofRefunds] };
}

/** A counter's item with the longest possible name, and with these tokens of the minute before and of this one. */
function counterItem(before: Value, now: Value): Item {
  return {
    pk: { S: `count_tokens#member#0x${'0'.repeat(40)}` },
    ttl: numberValue(1_800_000_000),
    u20777: numberValue(9_999_999),
    u20778: numberValue(9_999_999),
    n29920320: numberValue(9_999),
    n29920321: numberValue(9_999),
    w29920320: before,
    w29920321: now,
  };
}

/** The units of all charges of a minute after these tokens of the minute before. */
function unitsOfMinute(charges: number, before: Value): number {
  let units = 0;
  for (let charge = 1; charge <= charges; charge += 1)
    units += writeUnits(itemSize(counterItem(before, tokens(charge))));
  return units;
}

/**
 * The units of the worst second of a counter with this burst limit: a minute ends, and everything that it and the next allow
 * comes at once. In the minute before, every charge was refunded, which leaves a token as well.
 */
export function unitsOfWorstSecond(burst: number): number {
  // The first write of a minute drops the tokens of the one before the last, and costs as much as the item that it finds.
  const dropping = writeUnits(itemSize(counterItem(tokens(burst, true), tokens(burst))));
  return unitsOfMinute(burst, tokens(burst, true)) + dropping + unitsOfMinute(burst, tokens(burst));
}

/** The highest BURST_LIMIT that one item can serve in its worst second, of a caller without a budget. */
export const mostBurst = findMostBurst();

function findMostBurst(): number {
  let burst = 20;
  while (unitsOfWorstSecond(burst + 1) <= unitsPerSecond) burst += 1;
  return burst;
}
