import { assumptions, usualMemory } from './assumptions.ts';
import { prices } from './prices.ts';

const million = 1_000_000;

/** What a million streams of one length take of an engine; requests are a million of them each time. */
export interface Quantities {
  readonly processorSeconds: number;
  readonly gigabyteSeconds: number;
}

/** A function has its memory for as long as a stream is open, and is not charged for its processor. */
export function quantitiesOfFunction(seconds: number, memory: number = usualMemory): Quantities {
  return { processorSeconds: processorSeconds(seconds), gigabyteSeconds: million * seconds * (memory / 1024) };
}

/** A web function has the memory of an environment for many streams together. */
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

/** Dollars for a million streams as a function, without what is the same with both engines. */
export function functionPrice(seconds: number): number {
  const { gigabyteSeconds } = quantitiesOfFunction(seconds);
  return gigabyteSeconds * prices['Lambda, arm64, a GB-second'] + prices['Lambda, a million requests'];
}

/** What AWS asks for a web function, in dollars. Not in prices.ts: no list of them was to be had. */
export interface WebPrices {
  readonly processorSecond: number;
  readonly gigabyteSecond: number;
  readonly millionRequests: number;
}

export function webPrice(seconds: number, { processorSecond, gigabyteSecond, millionRequests }: WebPrices): number {
  const taken = quantitiesOfWeb(seconds);
  return taken.processorSeconds * processorSecond + taken.gigabyteSeconds * gigabyteSecond + millionRequests;
}

/** The price of a processor second at which both cost the same, given the others; below it the web function is cheaper. */
export function breakEvenProcessorSecond(seconds: number, others: Omit<WebPrices, 'processorSecond'>): number {
  const rest = functionPrice(seconds) - webPrice(seconds, { ...others, processorSecond: 0 });
  return rest / quantitiesOfWeb(seconds).processorSeconds;
}
