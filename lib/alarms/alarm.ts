import { Alarm, ComparisonOperator, type IMetric, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Duration, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/** What an alarm watches, and when it rings. */
export interface Watch {
  readonly what: string;
  /** The heading of its runbook in docs/operations.md, as a link writes it; if there is none, that of the alarm's own name. */
  readonly runbook?: string;
  readonly metric: IMetric;
  /** Rings when the metric is at least this, */
  readonly threshold: number;
  /** in this many periods */
  readonly times: number;
  /** of this many latest ones: more than `times`, as the last figures may be late. */
  readonly outOf: number;
  /** Whether it rings when there are no figures at all. */
  readonly ringsWithoutData?: true;
}

/** By the names of their alarms. */
export type Watches = Readonly<Record<string, Watch>>;

/** In periods of five minutes. A quiet night's failures are this far apart. */
export const hour = 12;
/** Rings at the first occurrence, and ends a quarter of an hour after the last. */
export const atOnce = { threshold: 1, times: 1, outOf: 3 } as const;
/** A single lost answer of a table is no reason to wake anybody. */
export const standing = 5;
/** Rings once it has lasted for ten minutes. */
export const lasting = { times: 2, outOf: 3 } as const;

/**
 * A metric, or an expression over several, with 0 where data is missing, in periods of five minutes. Most metrics are sent only
 * when something goes wrong. Without the zeros an alarm falls back on older data, whatever its `treatMissingData` says: it rings
 * again after the trouble is over, and on DynamoDB's metrics never changes its state again.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 */
export function fillGaps(usingMetrics: Readonly<Record<string, IMetric>>, expression?: string): MathExpression {
  const filled = expression ?? Object.keys(usingMetrics).join();
  return new MathExpression({ expression: `FILL(${filled}, 0)`, usingMetrics, period: Duration.minutes(5) });
}

/** Creates an alarm for each, which notifies the topic when it rings and when it is over, and says where its runbook is. */
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
      // Usually silence means that nobody called.
      treatMissingData: watch.ringsWithoutData ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    return alarm;
  });
}

/** Encrypted in transit only: at rest it would take a customer-managed key, for a dollar a month, and messages hold no secrets. */
export function createTopic(scope: Construct, email: string | undefined): Topic {
  const topic = new Topic(scope, 'Topic', { enforceSSL: true });
  // `enforceSSL` adds a policy, which replaces the default one: without this, no alarm could publish.
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
