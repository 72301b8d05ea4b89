import { type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';

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
