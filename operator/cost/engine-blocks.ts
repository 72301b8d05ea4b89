import { assumptions, streamSeconds, usualMemory } from './assumptions.ts';
import {
  breakEvenProcessorSecond,
  functionPrice,
  quantitiesOfFunction,
  quantitiesOfWeb,
  type WebPrices,
  webPrice,
} from './engines.ts';
import { dollars, length, round, table } from './format.ts';

/** The quantities of both engines, and the prices at which the web engine is cheaper. */
export function renderEngines(): string {
  const { gigabytes, streamsAtOnce } = assumptions.web;
  return [
    table(
      [
        'A million streams of',
        `Function URL: GB-seconds at ${usualMemory} MB`,
        'its price',
        'web: processor seconds',
        `web: GB-seconds at ${gigabytes} GB, ${streamsAtOnce} streams at once`,
      ],
      streamSeconds.map((seconds) => [
        length(seconds),
        round(quantitiesOfFunction(seconds).gigabyteSeconds),
        dollars(functionPrice(seconds)),
        round(quantitiesOfWeb(seconds).processorSeconds),
        round(quantitiesOfWeb(seconds).gigabyteSeconds),
      ]),
    ),
    table(
      ['Streams of', 'the web engine is cheaper while'],
      streamSeconds.map((seconds) => {
        const { processorSeconds, gigabyteSeconds } = quantitiesOfWeb(seconds);
        const price = `${round(processorSeconds)} p + ${round(gigabyteSeconds)} m + r`;
        return [length(seconds), `${price} < ${functionPrice(seconds).toFixed(2)}`];
      }),
    ),
  ].join('\n\n');
}

/** The same in dollars, with given prices. */
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
