import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';

export type EdgeMetrics = ReturnType<typeof createEdgeMetrics>;

/** CloudFront's metrics for a distribution, in us-east-1 wherever the stack is. Rates are percentages of its requests. */
export function createEdgeMetrics(distributionId: string) {
  const figure = (metricName: string, statistic: string) =>
    new Metric({
      ...{ namespace: 'AWS/CloudFront', metricName, statistic, region: 'us-east-1' },
      dimensionsMap: { DistributionId: distributionId, Region: 'Global' },
      period: Duration.minutes(5),
    });
  const rate = (status: string) => figure(`${status}ErrorRate`, 'Average');
  return {
    requests: figure('Requests', 'Sum'),
    bytes: figure('BytesDownloaded', 'Sum'),
    refused: rate('4xx'),
    failed: rate('5xx'),
    forbidden: rate('403'),
    unavailable: rate('503'),
    timedOut: rate('504'),
  };
}
