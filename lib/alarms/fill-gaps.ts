import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';

/**
 * One figure, or what is computed of several, with 0 where there is none, for five minutes at a time. Most are only sent when
 * something goes wrong. Without it an alarm takes older figures for those that are missing, whatever it is told about them: it
 * rings again when the trouble is over, and on a metric of DynamoDB's stays as it is for good.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 */
export function fillGaps(usingMetrics: Readonly<Record<string, IMetric>>, expression?: string): MathExpression {
  const filled = expression ?? Object.keys(usingMetrics).join();
  return new MathExpression({ expression: `FILL(${filled}, 0)`, usingMetrics, period: Duration.minutes(5) });
}
