import { Duration } from 'aws-cdk-lib';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import type { Watches } from './watch.ts';

/**
 * DynamoDB counts only while it throttles, and an alarm on its metrics stays as it is where figures are missing, whatever it is
 * told about them: it would go off once and never again. So gaps are filled, and a figure that comes late still counts.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html (TreatMissingData)
 */
export function watchTables({ tableUses }: GatewayMetrics): Watches {
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
