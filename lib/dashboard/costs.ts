import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';
import type { DashboardProps } from './widgets.ts';
import { graph, share, table } from './widgets.ts';

/**
 * US dollars per million in us-east-1, on arm64 and with on-demand tables. Other regions are close enough to show what costs
 * most.
 */
const prices = {
  gigabyteSeconds: 13.3334,
  invocations: 0.2,
  readUnits: 0.125,
  writeUnits: 0.625,
  edgeRequests: 1,
  edgeBytes: 0.000085,
};

const tokens = ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens'] as const;

/** The row that shows what the gateway costs. */
export function costs(props: DashboardProps): cloudwatch.IWidget[] {
  const { metrics, logGroup, functionLogGroup, walletLogGroup } = props;
  return [
    graph(
      'Tokens, as the upstream bills them',
      tokens.map((kind) => metrics.own(kind)),
    ),
    graph('Prompts from the cache, and answers without usage (%)', [
      share('fromCache', metrics.own('cacheReadTokens'), metrics.own('inputTokens')),
      share('withoutUsage', metrics.own('answersWithoutUsage'), metrics.own('duration', 'SampleCount')),
    ]),
    graph('Dollars an hour: requests, tables and edge', spendingOf(props)),
    // From Lambda's report lines, which have the billed duration.
    table('Dollars an hour: compute', [functionLogGroup, walletLogGroup], 4, [
      'filter @type = "REPORT"',
      'fields @billedDuration / 1000 * @memorySize / 1024000000 as gigabyteSeconds',
      `stats sum(gigabyteSeconds) / 1000000 * ${prices.gigabyteSeconds} as dollars by bin(1h) as hour`,
      'sort hour desc',
    ]),
    table('Most used by', [logGroup], 12, [
      'filter message = "answered"',
      'stats count(*) as requests, sum(inputTokens) as input, sum(outputTokens) as output by caller, key, member, network, model',
      'sort output desc',
      'limit 20',
    ]),
  ];
}

/** The row that shows what answers cost, at the operator's prices. */
export function spending({ metrics, logGroup }: DashboardProps, currency: string): cloudwatch.IWidget[] {
  const day = Duration.days(1);
  return [
    graph(`Spent a day, by model (${currency})`, [metrics.split('spent', day)]),
    graph(`Saved by caches a day (${currency})`, [metrics.own('savedByCaches').with({ period: day })], 4),
    graph(
      'Spending limit (%), reservations that stand, budgets nearly spent',
      [
        metrics.own('spendShare', 'Maximum'),
        metrics.own('budgetsLeftStanding'),
        metrics.own('lostReservations'),
        metrics.own('budgetsNearlySpent'),
      ],
      4,
    ),
    table(`Most spent by (${currency})`, [logGroup], 8, [
      'filter ispresent(cost)',
      'stats sum(cost) as spent, count(*) as answers by key, member, model',
      'sort spent desc',
      'limit 20',
    ]),
  ];
}

/** In dollars an hour, by what is paid for. */
function spendingOf({ metrics, edge }: DashboardProps): cloudwatch.IMetric[] {
  const { gatewayFunction, accountsFunction } = metrics;
  const { KeyReads, QuotaReads, QuotaWrites } = metrics.tableUses;
  return [
    { label: 'invocations', metric: gatewayFunction?.invocations, price: prices.invocations },
    { label: 'invocations of /cli', metric: accountsFunction.invocations, price: prices.invocations },
    { label: 'requests at the edge', metric: edge?.requests, price: prices.edgeRequests },
    { label: 'transfer at the edge', metric: edge?.bytes, price: prices.edgeBytes },
    { label: 'quota writes', metric: QuotaWrites.units, price: prices.writeUnits },
    { label: 'quota reads', metric: QuotaReads.units, price: prices.readUnits },
    { label: 'key reads', metric: KeyReads.units, price: prices.readUnits },
  ]
    .flatMap(({ metric, ...paid }) => (metric ? [{ metric, ...paid }] : []))
    .map(({ label, metric, price }, index) => {
      const amount = `amount${index}`;
      const expression = `${price} * ${amount} / 1000000`;
      const usingMetrics = { [amount]: metric };
      return new cloudwatch.MathExpression({ expression, usingMetrics, label, period: Duration.hours(1) });
    });
}
