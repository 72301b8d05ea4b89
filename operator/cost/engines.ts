import { assumptions, usualMemory } from './assumptions.ts';
import { prices } from './prices.ts';

const million = 1_000_000;

/** An engine's consumption for a million streams of one length, besides the million requests. */
export interface Quantities {
  readonly processorSeconds: number;
  readonly gigabyteSeconds: number;
}

/** A function is billed for its memory while a stream is open, and not for its processor. */
export function quantitiesOfFunction(seconds: number, memory: number = usualMemory): Quantities {
  return { processorSeconds: processorSeconds(seconds), gigabyteSeconds: million * seconds * (memory / 1024) };
}

/** A web function's environment shares its memory among many streams. */
export function quantitiesOfWeb(seconds: number): Quantities {
  const { gigabytes, streamsAtOnce } = assumptions.web;
  return {
    processorSeconds: processorSeconds(seconds),
    gigabyteSeconds: (million * seconds * gigabytes) / streamsAtOnce,
  };
}

function processorSeconds(seconds: number): number {
  const { processorSecondsPerRequest, processorSecondsPerEvent } = assumptions.web;
  return million * (processorSecondsPerRequest + seconds * assumptions.eventsPerSecond * processorSecondsPerEvent);
}

/** Dollars for a million streams on the function engine, without what costs the same on both. */
export function functionPrice(seconds: number): number {
  const { gigabyteSeconds } = quantitiesOfFunction(seconds);
  return gigabyteSeconds * prices['Lambda, arm64, a GB-second'] + prices['Lambda, a million requests'];
}

/** AWS's prices for web functions, in dollars. Not in prices.ts, because no list of them was found. */
export interface WebPrices {
  readonly processorSecond: number;
  readonly gigabyteSecond: number;
  readonly millionRequests: number;
}

export function webPrice(seconds: number, { processorSecond, gigabyteSecond, millionRequests }: WebPrices): number {
  const taken = quantitiesOfWeb(seconds);
  return taken.processorSeconds * processorSecond + taken.gigabyteSeconds * gigabyteSecond + millionRequests;
}

/** The price of a processor second at which both cost the same, given the other prices; below it the web function is cheaper. */
export function breakEvenProcessorSecond(seconds: number, others: Omit<WebPrices, 'processorSecond'>): number {
  const rest = functionPrice(seconds) - webPrice(seconds, { ...others, processorSecond: 0 });
  return rest / quantitiesOfWeb(seconds).processorSeconds;
}
