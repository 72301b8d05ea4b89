import { Duration, Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { DeploymentConfig } from './config.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';

interface AlarmsProps {
  readonly config: DeploymentConfig;
  readonly metrics: GatewayMetrics;
}

interface Watch {
  readonly what: string;
  /** The heading of its runbook in docs/operations.md, as a link writes it. */
  readonly runbook: string;
  readonly metric: IMetric;
  /** Raised when the metric is at least this, so many times in a row. */
  readonly threshold: number;
  readonly times: number;
  /** Among so many of the latest figures; without it, in a row. */
  readonly among?: number;
}

/** A failing upstream is one that spoils more than every tenth request, and more than a few. */
const failing = { percent: 10, refunds: 5 };
const nearing = 0.8;

/** What wakes somebody up. Every metric that an alarm looks at costs ten cents a month: twelve of them, $1.20. */
export class Alarms extends Construct {
  readonly topic: Topic;
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, { config, metrics }: AlarmsProps) {
    super(scope, id);
    this.topic = createTopic(this, config.alarmEmail);
    const action = new SnsAction(this.topic);
    this.alarms = Object.entries(watches(config, metrics)).map(
      ([name, { what, runbook, metric, threshold, times, among }]) => {
        const alarm = new Alarm(this, name, {
          alarmDescription: `${what} What to do: docs/operations.md#${runbook}`,
          metric,
          threshold,
          evaluationPeriods: among ?? times,
          ...(among !== undefined && { datapointsToAlarm: times }),
          comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
          treatMissingData: TreatMissingData.NOT_BREACHING, // nobody called
        });
        alarm.addAlarmAction(action);
        alarm.addOkAction(action);
        return alarm;
      },
    );
  }
}

function watches(config: DeploymentConfig, metrics: GatewayMetrics): Readonly<Record<string, Watch>> {
  return {
    UpstreamCredentialsRefused: {
      what: 'The upstream refused a key (401), or its account is empty (402).',
      runbook: 'upstream-credentials-refused',
      metric: metrics.upstreamFailuresOf('credentials'),
      threshold: 1,
      times: 1,
    },
    UpstreamFailing: {
      what: `Of all requests, at least ${failing.percent} % were given back because the upstream failed them.`,
      runbook: 'upstream-failing',
      metric: new MathExpression({
        expression: `IF(refunds >= ${failing.refunds}, 100 * refunds / requests, 0)`,
        usingMetrics: { refunds: metrics.own('refunds'), requests: metrics.own('requests') },
        period: Duration.minutes(5),
      }),
      threshold: failing.percent,
      times: 2,
    },
    GatewayErrors: {
      what: 'The gateway itself failed: it answered with an error of its own.',
      runbook: 'gateway-errors',
      metric: metrics.own('gatewayErrors'),
      threshold: 1,
      times: 1,
    },
    ...(metrics.gatewayFunction && functionWatches('Function', 'The function', metrics.gatewayFunction)),
    ...functionWatches('Wallet', 'The function of the page /cli', metrics.walletFunction),
    ...tableWatches(metrics),
    ...(metrics.gatewayFunction && concurrencyWatch(config, metrics, metrics.gatewayFunction)),
  };
}

type FunctionMetrics = GatewayMetrics['walletFunction'];

function concurrencyWatch(
  { reservedConcurrency, accountConcurrency }: DeploymentConfig,
  { concurrencyOfAccount }: GatewayMetrics,
  { concurrency }: FunctionMetrics,
): Readonly<Record<string, Watch>> {
  return {
    NearingConcurrency: {
      what: 'Four fifths of the executions that Lambda allows at once are taken.',
      runbook: 'nearing-concurrency',
      // Without a share of its own, the function competes with all others of the account.
      metric: reservedConcurrency === undefined ? concurrencyOfAccount : concurrency,
      threshold: Math.ceil((reservedConcurrency ?? accountConcurrency) * nearing),
      times: 3,
    },
  };
}

function functionWatches(name: string, subject: string, metrics: FunctionMetrics): Readonly<Record<string, Watch>> {
  return {
    [`${name}Errors`]: {
      what: `${subject} crashed, ran out of time or memory, or did not start.`,
      runbook: 'function-errors',
      metric: metrics.crashes,
      threshold: 1,
      times: 1,
    },
    [`${name}Throttled`]: {
      what: `${subject} is short of executions: Lambda turned requests away.`,
      runbook: 'function-throttled',
      metric: metrics.throttles,
      threshold: 1,
      times: 1,
    },
  };
}

/**
 * DynamoDB counts only while it throttles, and an alarm on its metrics stays as it is where figures are missing, whatever it is
 * told about them: it would go off once and never again. So gaps are filled, and a figure that comes late still counts.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html (TreatMissingData)
 */
function tableWatches({ tableUses }: GatewayMetrics): Readonly<Record<string, Watch>> {
  const watched = Object.entries(tableUses).map(([use, { throttled }]) => {
    const what = 'DynamoDB turned requests away, which the gateway then answered with 503.';
    const metric = new MathExpression({
      expression: 'FILL(throttled, 0)',
      usingMetrics: { throttled },
      period: Duration.minutes(5),
    });
    return [
      `${use}Throttled`,
      { what, runbook: 'tables-throttled', metric, threshold: 1, times: 1, among: 3 },
    ] as const;
  });
  return Object.fromEntries(watched);
}

/** Encrypted on its way. At rest, only a key of one's own would let alarms write to it, for a dollar a month; it holds no secrets. */
function createTopic(scope: Construct, email: string | undefined): Topic {
  const topic = new Topic(scope, 'Topic', { enforceSSL: true });
  // A topic with a policy of its own has no other: without this, no alarm would reach it.
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
  if (email !== undefined) topic.addSubscription(new EmailSubscription(email));
  return topic;
}
