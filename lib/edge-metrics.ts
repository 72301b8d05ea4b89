import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';

export type EdgeMetrics = ReturnType<typeof createEdgeMetrics>;

/**
 * CloudFront's metrics of a distribution and its web ACL, in us-east-1 wherever the stack is. Rates are percentages of the
 * requests.
 */
export function createEdgeMetrics(distributionId: string, webAclArn?: string) {
  const create = (namespace: string, metricName: string, statistic: string, dimensionsMap: Record<string, string>) =>
    new Metric({ namespace, metricName, statistic, dimensionsMap, region: 'us-east-1', period: Duration.minutes(5) });
  const figure = (metricName: string, statistic: string) =>
    create('AWS/CloudFront', metricName, statistic, { DistributionId: distributionId, Region: 'Global' });
  const rate = (status: string) => figure(`${status}ErrorRate`, 'Average');
  return {
    requests: figure('Requests', 'Sum'),
    bytes: figure('BytesDownloaded', 'Sum'),
    refused: rate('4xx'),
    failed: rate('5xx'),
    forbidden: rate('403'),
    unavailable: rate('503'),
    timedOut: rate('504'),
    /**
     * Counted whatever status they are answered with. WAF reports them under the web ACL's metric name, which must be unique
     * (docs/hosting.md).
     */
    blocked:
      webAclArn === undefined
        ? undefined
        : create('AWS/WAFV2', 'BlockedRequests', 'Sum', { WebACL: webAclArn.split('/').at(-2) ?? '', Rule: 'ALL' }),
  };
}
