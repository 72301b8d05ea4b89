import { assumptions, streamSeconds, usualMemory } from './assumptions.ts';
import { breakEvenProcessorSecond, functionPrice, quantitiesOfWeb, type WebPrices, webPrice } from './engines.ts';
import { dollars, length, round, table } from './format.ts';

/** What the web engine takes, beside the price of the functions that it would replace. */
export function renderEngines(): string {
  const { gigabytes, streamsAtOnce } = assumptions.web;
  return table(
    [
      'A million streams of',
      `Function URL at ${usualMemory} MB`,
      'web: processor seconds',
      `web: GB-seconds at ${gigabytes} GB, ${streamsAtOnce} streams at once`,
    ],
    streamSeconds.map((seconds) => {
      const { processorSeconds, gigabyteSeconds } = quantitiesOfWeb(seconds);
      return [length(seconds), dollars(functionPrice(seconds)), round(processorSeconds), round(gigabyteSeconds)];
    }),
  );
}

/** Both in dollars, at given prices of the web engine. */
export function renderWithPrices(prices: WebPrices): string {
  return table(
    ['A million streams of', 'Function URL', 'web', 'the same at a processor second of'],
    streamSeconds.map((seconds) => {
      const even = breakEvenProcessorSecond(seconds, prices);
      return [
        length(seconds),
        dollars(functionPrice(seconds)),
        dollars(webPrice(seconds, prices)),
        even > 0 ? `$${even.toPrecision(3)}` : 'none: its memory alone costs more',
      ];
    }),
  );
}
