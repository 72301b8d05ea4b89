import { bytesAtRate, mostBurst, unitsOfWorstSecond, unitsPerSecond } from '../../lambda/tables/counter-cost.ts';
import { writeUnits } from '../../lambda/tables/table.ts';
import { assumptions, busyRates, free, inventory, memories, streamSeconds, usualMemory } from './assumptions.ts';
import { renderEngines } from './engine-blocks.ts';
import { dollars, length, round, significant, table } from './format.ts';
import {
  breakEven,
  canaryMonth,
  containersFor,
  containersMonth,
  costOfLimits,
  costOfMillion,
  edgeMonth,
  idleMonth,
  lambdaMonth,
  metricCount,
  requestsPerSecond,
  scanCost,
  secretReadsMonth,
  storageMonth,
} from './model.ts';
import { prices } from './prices.ts';

const sum = (values: object): number => Object.values(values).reduce((total, value) => total + value, 0);

const keyBytes = 400;
const counterBytes = 200;

/** The computed parts of docs/costs.md and docs/scaling.md, by the names in their markers. */
export const blocks: Readonly<Record<string, () => string>> = {
  idle: () => {
    const idle = idleMonth();
    return table(
      ['A month without a single request', 'US dollars'],
      [
        [`${inventory.secrets} secrets`, dollars(idle.secrets)],
        [
          `alarms on ${inventory.watchedMetrics} metrics (the first ${free.watchedMetrics} of an account are free)`,
          dollars(idle.alarms),
        ],
        [
          `${inventory.dashboards} dashboard (the first ${free.dashboards} of an account are free)`,
          dollars(idle.dashboard),
        ],
        [
          `${inventory.tables} tables with 1,000 keys and 10,000 counters, point-in-time recovery included`,
          dollars(storageMonth(1_000, keyBytes * 3) + storageMonth(10_000, counterBytes)),
        ],
        ['functions, URLs, topic, log groups', dollars(0)],
        ['**in all**', `**${dollars(sum(idle))}**`],
        ['in an account that has not used up its free alarms and dashboards', dollars(sum(idleMonth(free)))],
        [
          'with an edge: one more secret, metrics and alarms; optionally a web ACL with one rule, watched by an alarm',
          `+ ${dollars(edgeMonth())}, + ${dollars(
            prices['WAF, a web ACL for a month'] +
              prices['WAF, a rule for a month'] +
              prices['CloudWatch, a metric watched by an alarm for a month'],
          )}`,
        ],
      ],
    );
  },

  canary: () => {
    const { runs, ...parts } = canaryMonth();
    return `The canary costs ${dollars(sum(parts))} a month, besides what the upstream bills for its ${round(runs)} short streams.`;
  },

  million: () =>
    table(
      ['A million requests', ...memories.map((memory) => `${memory} MB`), 'of which transfer'],
      streamSeconds.map((seconds) => [
        `streams of ${length(seconds)}`,
        ...memories.map((memory) => dollars(sum(costOfMillion(seconds, memory)))),
        dollars(costOfMillion(seconds, usualMemory).transfer),
      ]),
    ),

  parts: () => {
    const parts = costOfMillion(10, usualMemory);
    const shares = Object.entries(parts).map(([name, value]) => `${name} ${round((100 * value) / sum(parts), 1)} %`);
    return `Of a million streams of 10 s at ${usualMemory} MB: ${shares.join(', ')}.`;
  },

  engines: renderEngines,

  metrics: () => {
    const most = metricCount();
    const price = prices['CloudWatch, a metric for a month'];
    return `At most ${most} metrics, if every code and every class occurs in every hour: ${dollars(most * price)} a month.`;
  },

  containers: () =>
    table(
      ['Streams of', 'break-even a month', 'ten million on Lambda', 'ten million in containers (how many)'],
      streamSeconds.map((seconds) => {
        const count = containersFor(10_000_000, seconds);
        return [
          length(seconds),
          `${significant(breakEven(seconds))} requests`,
          dollars(lambdaMonth(10_000_000, seconds)),
          `${dollars(containersMonth(count))} (${count})`,
        ];
      }),
    ),

  environments: () =>
    `An environment that is in use all month reads the upstream’s secret once a minute, for ${dollars(secretReadsMonth(1))}; a hundred do so for ${dollars(secretReadsMonth(100))}.`,

  concurrency: () =>
    table(
      [
        'Streams of',
        `requests a second at ${round(assumptions.accountConcurrency)} at once`,
        'a day, evenly',
        'at once for 100 a second',
      ],
      streamSeconds.map((seconds) => [
        length(seconds),
        round(requestsPerSecond(seconds), 1),
        significant(requestsPerSecond(seconds) * 86_400),
        round(100 * seconds),
      ]),
    ),

  tables: () => {
    const items = 1_000_000;
    const bytes = items * counterBytes;
    return `A million counters are ${round(bytes / 1e6)} MB, stored for ${dollars(storageMonth(items, counterBytes))} a month, and read in ${round(bytes / 1e7)} s for ${dollars(scanCost(items, counterBytes))}.`;
  },

  counters: () =>
    table(
      ['Charges a minute on one counter', 'its item', 'units a charge', 'units a second', 'a million charges'],
      busyRates.map((rate) => {
        const units = writeUnits(bytesAtRate(rate));
        return [
          round(rate),
          `${round(bytesAtRate(rate))} B`,
          round(units),
          round((units * rate) / 60, 1),
          dollars(units * prices['DynamoDB on demand, a million write units']),
        ];
      }),
    ),

  limits: () => {
    const { member, guest, refusal } = costOfLimits();
    return `With \`DAILY_LIMIT\`, a million requests cost ${dollars(member)} more if they are members’, ${dollars(guest)} if they are guests’, which are counted twice, and ${dollars(refusal)} if they are refused because the limit is spent.`;
  },

  bursts: () =>
    `Its worst second is the turn of a minute, when a caller sends both minutes’ requests at once, after a minute in which each was refunded. With a \`BURST_LIMIT\` of ${mostBurst}, that takes ${round(unitsOfWorstSecond(mostBurst))} units of the ${round(unitsPerSecond)} that one item has. More is refused by the synthesis.`,
};
