import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Aws, Duration, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { FunctionMetrics } from '../gateway-metrics.ts';
import { costs, spending } from './costs.ts';
import type { DashboardProps } from './widgets.ts';
import { graph, heading, table, width } from './widgets.ts';

/** Four questions, one row each: is it healthy, who is limited, how is the upstream, what does it cost. Prices add a fifth. */
export class Dashboard extends Construct {
  /** Its address in the console. */
  readonly url: string;

  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    // People find it by its name, which must be unique across the regions of an account.
    const dashboardName = `${Stack.of(this).stackName}-${Aws.REGION}`;
    this.url = `https://${Aws.REGION}.console.aws.amazon.com/cloudwatch/home?region=${Aws.REGION}#dashboards/dashboard/${dashboardName}`;
    new cloudwatch.Dashboard(this, 'Dashboard', {
      dashboardName,
      defaultInterval: Duration.hours(12),
      widgets: [
        [
          heading('Is it healthy?'),
          new cloudwatch.AlarmStatusWidget({ alarms: [...props.alarms.alarms], width, height: 3 }),
        ],
        health(props),
        [heading('Who is limited?')],
        limits(props),
        [heading('How is the upstream?')],
        upstream(props),
        [heading('What does it cost?')],
        costs(props),
        ...(props.currency === undefined ? [] : [[heading('What do answers cost?')], spending(props, props.currency)]),
      ],
    });
  }
}

function health({ metrics, edge }: DashboardProps): cloudwatch.IWidget[] {
  const { own, gatewayFunction, accountsFunction } = metrics;
  const percentiles = (of: 'timeToFirstByte' | 'duration') => ['p50', 'p90', 'p99'].map((each) => own(of, each));
  return [
    graph('Requests and faults', [
      own('requests'),
      own('errorAnswers'),
      own('gatewayErrors'),
      own('chargesLeftStanding'),
      own('secretsNotRefreshed'),
      own('signInsFailed'),
      gatewayFunction?.crashes,
      metrics.webFailures,
      accountsFunction.crashes.with({ label: 'Errors of /cli' }),
      metrics.canaryFailures,
      own('coldStarts'),
    ]),
    graph('What callers got, from the function or from AWS', [
      ...(gatewayFunction ? urlFigures(gatewayFunction) : []),
      ...urlFigures(accountsFunction, ' of /cli'),
    ]),
    graph('Concurrent executions, and throttles', [
      gatewayFunction?.concurrency,
      gatewayFunction?.throttles,
      accountsFunction.throttles.with({ label: 'Throttles of /cli' }),
      ...Object.values(metrics.tableUses).map(({ throttled }) => throttled),
    ]),
    graph('Time to first byte (ms)', percentiles('timeToFirstByte')),
    graph('Duration (ms)', percentiles('duration')),
    ...(edge
      ? [
          graph('At the edge: refused and failed (%)', [
            edge.refused,
            edge.failed,
            edge.forbidden,
            edge.unavailable,
            edge.timedOut,
          ]),
        ]
      : []),
  ];
}

function urlFigures({ url }: FunctionMetrics, whose = ''): cloudwatch.IMetric[] {
  return [
    url.requests.with({ label: `Requests${whose}` }),
    url.refused.with({ label: `4xx${whose}` }),
    url.failed.with({ label: `5xx${whose}` }),
  ];
}

function limits({ metrics, logGroup }: DashboardProps): cloudwatch.IWidget[] {
  return [
    graph('Refusals by code, and WebSocket attempts', [metrics.split('refusals'), metrics.own('webSocketTries')], 6),
    graph(
      'Daily limits of the deployment, used (%)',
      [metrics.own('dailyLimitUsed', 'Average'), metrics.own('guestDailyLimitUsed', 'Average')],
      6,
    ),
    table('Most limited callers', [logGroup], 12, [
      'filter message = "refused" and code in ["rate_limited", "quota_exceeded"]',
      'stats count(*) as refused by caller, key, network, code',
      'sort refused desc',
      'limit 20',
    ]),
  ];
}

function upstream({ metrics, logGroup, walletLogGroup, canaryLogGroup }: DashboardProps): cloudwatch.IWidget[] {
  return [
    graph('Failures by class', [metrics.split('upstreamFailures')]),
    table('Failures by class, upstream and status', [logGroup], 8, [
      'filter level in ["warn", "error"] and ispresent(upstream)',
      'fields coalesce(kind, reason) as class',
      'stats count(*) as failures by class, upstream, upstreamStatus',
      'sort failures desc',
      'limit 20',
    ]),
    graph('Tries, failed tries, refunds, and requests sent in part', [
      metrics.own('upstreamFailedTries', 'SampleCount').with({ label: 'Tries' }),
      metrics.own('upstreamFailedTries'),
      metrics.own('refunds'),
      metrics.own('leftOut'),
    ]),
    table('Latest failures', [logGroup, walletLogGroup, canaryLogGroup], width, [
      'filter level in ["warn", "error"]',
      'fields @timestamp, requestId, message, code, coalesce(kind, reason) as class, upstream, upstreamStatus, tries',
      'sort @timestamp desc',
      'limit 20',
    ]),
  ];
}
