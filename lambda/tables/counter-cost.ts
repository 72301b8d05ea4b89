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

/** The bytes of a counter with this many charges a minute at the end of a minute, when it is largest. */
export function bytesAtRate(chargesPerMinute: number): number {
  return itemSize(counterItem(tokens(chargesPerMinute), tokens(chargesPerMinute)));
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

/** The bytes of an open reservation, with its name. */
const reservationBytes = itemSize({ [`h29920321.${anyToken}`]: { S: 'm682 1000000000' } });
const budgetBytes = itemSize({ bm681: numberValue(999_999_999_999), bm682: numberValue(999_999_999_999) });

/**
 * The same for a caller with a budget, each of whose charges also opens a reservation, which one write more settles or refunds:
 * all that two minutes allow is charged before the first of it is settled.
 */
export function unitsOfWorstSecondWithBudget(burst: number): number {
  const unitsWith = (before: Value, now: Value, open: number) =>
    writeUnits(itemSize(counterItem(before, now)) + budgetBytes + open * reservationBytes);
  let units = 0;
  for (let charge = 1; charge <= burst; charge += 1) {
    units += unitsWith(tokens(burst), tokens(charge), charge);
    units += unitsWith(tokens(burst), tokens(charge), burst + charge);
  }
  for (let open = 2 * burst; open > 0; open -= 1) units += unitsWith(tokens(burst), tokens(burst), open);
  return units;
}

/** The highest BURST_LIMIT that one item can serve in its worst second, of a caller without a budget. */
export const mostBurst = findMostBurst(unitsOfWorstSecond);

/** The highest burst limit whose worst second, by this measure, one item can serve. */
export function findMostBurst(unitsOf: (burst: number) => number): number {
  let burst = 20;
  while (unitsOf(burst + 1) <= unitsPerSecond) burst += 1;
  return burst;
}
