import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Alarms } from './alarms/alarms.ts';
import type { EdgeMetrics } from './edge-metrics.ts';
import type { FunctionMetrics, GatewayMetrics } from './gateway-metrics.ts';

interface DashboardProps {
  readonly metrics: GatewayMetrics;
  readonly alarms: Alarms;
  /** The gateway's log in each deployed engine. */
  readonly logGroups: readonly ILogGroup[];
  /** The log with Lambda's own report of each invocation. */
  readonly functionLogGroup?: ILogGroup | undefined;
  readonly walletLogGroup: ILogGroup;
  readonly canaryLogGroup: ILogGroup | undefined;
  readonly edge: EdgeMetrics | undefined;
}

/** US dollars per million in us-east-1, on arm64 and on-demand tables: close enough elsewhere to show what costs most. */
const prices = {
  gigabyteSeconds: 13.3334,
  invocations: 0.2,
  readUnits: 0.125,
  writeUnits: 0.625,
  edgeRequests: 1,
  edgeBytes: 0.000085,
};

/** Four questions, a row for each: is it healthy, who is limited, what does the upstream do to us, what does it cost. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    new cloudwatch.Dashboard(this, 'Dashboard', {
      defaultInterval: Duration.hours(12),
      widgets: [
        [
          heading('Is it healthy?'),
          new cloudwatch.AlarmStatusWidget({ alarms: [...props.alarms.alarms], width, height: 3 }),
        ],
        health(props),
        [heading('Who is limited?')],
        limits(props),
        [heading('What does the upstream do to us?')],
        upstream(props),
        [heading('What does it cost?')],
        costs(props),
      ],
    });
  }
}

const width = 24;

function heading(text: string): cloudwatch.IWidget {
  return new cloudwatch.TextWidget({
    markdown: `## ${text}`,
    width,
    height: 1,
    background: cloudwatch.TextWidgetBackground.TRANSPARENT,
  });
}

function health({ metrics, edge }: DashboardProps): cloudwatch.IWidget[] {
  const { own, gatewayFunction, walletFunction } = metrics;
  return [
    graph(
      'Requests and faults',
      [
        own('requests'),
        own('gatewayErrors'),
        own('chargesLeftStanding'),
        own('secretsNotRefreshed'),
        ...(gatewayFunction ? [gatewayFunction.crashes] : []),
        ...(metrics.webFailures ? [metrics.webFailures] : []),
        walletFunction.crashes.with({ label: 'Errors of /cli' }),
        ...(metrics.canaryFailures ? [metrics.canaryFailures] : []),
        own('coldStarts'),
      ],
      8,
    ),
    graph(
      'What callers got, from the function or in its stead',
      [...(gatewayFunction ? urlFigures(gatewayFunction) : []), ...urlFigures(walletFunction, ' of /cli')],
      8,
    ),
    graph(
      'Executions at once, and turned away',
      [
        ...(gatewayFunction ? [gatewayFunction.concurrency, gatewayFunction.throttles] : []),
        walletFunction.throttles.with({ label: 'Throttles of /cli' }),
        ...Object.values(metrics.tableUses).map(({ throttled }) => throttled),
      ],
      8,
    ),
    graph(
      'Time to first byte (ms)',
      ['p50', 'p90', 'p99'].map((statistic) => own('timeToFirstByte', statistic)),
      8,
    ),
    graph(
      'Duration (ms)',
      ['p50', 'p90', 'p99'].map((statistic) => own('duration', statistic)),
      8,
    ),
    ...(edge ? [graph('At the edge: refused and failed (%)', edgeRates(edge), 8)] : []),
  ];
}

function edgeRates({ refused, failed, forbidden, unavailable, timedOut }: EdgeMetrics): cloudwatch.IMetric[] {
  return [refused, failed, forbidden, unavailable, timedOut];
}

function urlFigures({ url }: FunctionMetrics, whose = ''): cloudwatch.IMetric[] {
  return [
    url.requests.with({ label: `Requests${whose}` }),
    url.refused.with({ label: `4xx${whose}` }),
    url.failed.with({ label: `5xx${whose}` }),
  ];
}

function limits({ metrics, logGroups }: DashboardProps): cloudwatch.IWidget[] {
  return [
    graph('Refusals by code, and tries of WebSockets', [metrics.split('refusals'), metrics.own('webSocketTries')], 6),
    graph(
      'Daily limits of the deployment, used (%)',
      [metrics.own('dailyLimitUsed', 'Average'), metrics.own('guestDailyLimitUsed', 'Average')],
      6,
    ),
    table(
      'Most limited callers',
      logGroups,
      [
        'filter message = "refused" and code in ["rate_limited", "quota_exceeded"]',
        'stats count(*) as refused by caller, key, network, code',
        'sort refused desc',
        'limit 20',
      ],
      12,
    ),
  ];
}

function upstream({ metrics, logGroups, walletLogGroup, canaryLogGroup }: DashboardProps): cloudwatch.IWidget[] {
  return [
    graph('Failures by class', [metrics.split('upstreamFailures')], 8),
    table(
      'Failures by class, upstream and status',
      logGroups,
      [
        'filter level in ["warn", "error"] and ispresent(upstream)',
        'fields coalesce(kind, reason) as class',
        'stats count(*) as failures by class, upstream, upstreamStatus',
        'sort failures desc',
        'limit 20',
      ],
      8,
    ),
    graph(
      'Tries, those that failed, and charges given back',
      [
        metrics.own('upstreamFailedTries', 'SampleCount').with({ label: 'Tries' }),
        metrics.own('upstreamFailedTries'),
        metrics.own('refunds'),
      ],
      8,
    ),
    table(
      'Latest failures',
      [...logGroups, walletLogGroup, ...(canaryLogGroup ? [canaryLogGroup] : [])],
      [
        'filter level in ["warn", "error"]',
        'fields @timestamp, requestId, message, code, coalesce(kind, reason) as class, upstream, upstreamStatus, tries',
        'sort @timestamp desc',
        'limit 20',
      ],
      width,
    ),
  ];
}

function costs({ metrics, logGroups, functionLogGroup, walletLogGroup, edge }: DashboardProps): cloudwatch.IWidget[] {
  const { gatewayFunction, walletFunction } = metrics;
  const { KeyReads, QuotaReads, QuotaWrites } = metrics.tableUses;
  const spent = [
    ...(gatewayFunction
      ? [{ label: 'invocations', metric: gatewayFunction.invocations, price: prices.invocations }]
      : []),
    { label: 'invocations of /cli', metric: walletFunction.invocations, price: prices.invocations },
    ...(edge
      ? [
          { label: 'requests at the edge', metric: edge.requests, price: prices.edgeRequests },
          { label: 'transfer at the edge', metric: edge.bytes, price: prices.edgeBytes },
        ]
      : []),
    { label: 'quota writes', metric: QuotaWrites.units, price: prices.writeUnits },
    { label: 'quota reads', metric: QuotaReads.units, price: prices.readUnits },
    { label: 'key reads', metric: KeyReads.units, price: prices.readUnits },
  ].map(({ label, metric, price }, index) => {
    const expression = `${price} * amount${index} / 1000000`;
    return new cloudwatch.MathExpression({
      expression,
      usingMetrics: { [`amount${index}`]: metric },
      label,
      period: Duration.hours(1),
    });
  });
  return [
    graph(
      'Tokens, as the upstream bills them',
      (['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens'] as const).map((kind) =>
        metrics.own(kind),
      ),
      8,
    ),
    graph(
      'Prompts from the cache, and answers without usage (%)',
      [
        share('fromCache', metrics.own('cacheReadTokens'), metrics.own('inputTokens')),
        share('withoutUsage', metrics.own('answersWithoutUsage'), metrics.own('duration', 'SampleCount')),
      ],
      8,
    ),
    graph('Dollars an hour: requests, tables and edge', spent, 8),
    computeOf([...(functionLogGroup ? [functionLogGroup] : []), walletLogGroup]),
    table(
      'Most used by',
      logGroups,
      [
        'filter message = "answered"',
        'stats count(*) as requests, sum(inputTokens) as input, sum(outputTokens) as output by caller, key, member, network, model',
        'sort output desc',
        'limit 20',
      ],
      12,
    ),
  ];
}

/** From the lines with the billed duration that Lambda adds to the log of each function. */
function computeOf(logGroups: readonly ILogGroup[]): cloudwatch.IWidget {
  return table(
    'Dollars an hour: compute',
    logGroups,
    [
      'filter @type = "REPORT"',
      'fields @billedDuration / 1000 * @memorySize / 1024000000 as gigabyteSeconds',
      `stats sum(gigabyteSeconds) / 1000000 * ${prices.gigabyteSeconds} as dollars by bin(1h) as hour`,
      'sort hour desc',
    ],
    4,
  );
}

/** One metric as a percentage of another. */
function share(name: string, part: cloudwatch.IMetric, whole: cloudwatch.IMetric): cloudwatch.IMetric {
  const [one, all] = [`${name}Part`, `${name}Whole`];
  return new cloudwatch.MathExpression({
    expression: `100 * ${one} / ${all}`,
    usingMetrics: { [one]: part, [all]: whole },
    label: name,
  });
}

function graph(title: string, left: cloudwatch.IMetric[], span = 6): cloudwatch.IWidget {
  return new cloudwatch.GraphWidget({ title, left, width: span, height: 6, leftYAxis: { min: 0, showUnits: false } });
}

/** A query that runs when somebody looks, for half a cent a gigabyte of log. */
function table(title: string, logGroups: readonly ILogGroup[], queryLines: string[], span = 16): cloudwatch.IWidget {
  return new cloudwatch.LogQueryWidget({
    title,
    logGroupNames: logGroups.map(({ logGroupName }) => logGroupName),
    queryLines,
    view: cloudwatch.LogQueryVisualizationType.TABLE,
    width: span,
    height: 6,
  });
}
