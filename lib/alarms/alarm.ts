import { Alarm, ComparisonOperator, type IMetric, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Duration, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

export interface Watch {
  readonly what: string;
  /** The anchor of its runbook in docs/operations.md; by default derived from the alarm's name. */
  readonly runbook?: string;
  readonly metric: IMetric;
  /** Rings when the metric is at least this, */
  readonly threshold: number;
  /** in this many periods */
  readonly times: number;
  /** of the latest ones. More than `times`, because the latest data points may arrive late. */
  readonly outOf: number;
  /** Whether it rings when there is no data at all. */
  readonly ringsWithoutData?: true;
}

/** By alarm name. */
export type Watches = Readonly<Record<string, Watch>>;

/** In periods of five minutes. On a quiet night, failures are this far apart. */
export const hour = 12;
/** Rings at the first occurrence, and stops a quarter of an hour after the last. */
export const atOnce = { threshold: 1, times: 1, outOf: 3 } as const;
/** A single lost response of a table is no reason to page anybody. */
export const standing = 5;
/** Rings after ten minutes. */
export const lasting = { times: 2, outOf: 3 } as const;

/**
 * A metric, or a metric-math expression, with 0 where data is missing, in periods of five minutes. Most metrics are only sent
 * when something goes wrong. Without the zeros an alarm falls back on older data points, whatever its `treatMissingData` says: it
 * rings again after the incident, and on DynamoDB's metrics it never changes its state again.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 */
export function fillGaps(usingMetrics: Readonly<Record<string, IMetric>>, expression?: string): MathExpression {
  const filled = expression ?? Object.keys(usingMetrics).join();
  return new MathExpression({ expression: `FILL(${filled}, 0)`, usingMetrics, period: Duration.minutes(5) });
}

/** The sum of metrics over the last day. */
export function sumOfDay(usingMetrics: Readonly<Record<string, IMetric>>): MathExpression {
  const expression = Object.keys(usingMetrics).map((name) => `FILL(${name}, 0)`);
  return new MathExpression({ expression: expression.join(' + '), usingMetrics, period: Duration.days(1) });
}

/** Creates the alarms. Each notifies the topic when it rings and when it recovers, and links to its runbook. */
export function createAlarms(scope: Construct, topic: Topic, watches: Watches, docsUrl = 'docs'): Alarm[] {
  const action = new SnsAction(topic);
  return Object.entries(watches).map(([name, watch]) => {
    const runbook = watch.runbook ?? name.replace(/\B[A-Z]/g, '-$&').toLowerCase();
    const alarm = new Alarm(scope, name, {
      alarmDescription: `${watch.what} What to do: ${docsUrl}/operations.md#${runbook}`,
      metric: watch.metric,
      threshold: watch.threshold,
      evaluationPeriods: watch.outOf,
      datapointsToAlarm: watch.times,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      // Missing data usually means no traffic.
      treatMissingData: watch.ringsWithoutData ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    return alarm;
  });
}

/** Encrypted in transit only. At rest would take a customer-managed key, for a dollar a month, and messages hold no secrets. */
export function createTopic(scope: Construct, email: string | undefined): Topic {
  const topic = new Topic(scope, 'Topic', { enforceSSL: true });
  // `enforceSSL` adds a policy, which replaces the default one. Without this statement no alarm could publish.
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
