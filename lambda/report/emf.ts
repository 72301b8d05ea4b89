import type { canaryMetrics, metrics } from './metric-names.ts';

type Metric = (typeof metrics)[keyof typeof metrics] | (typeof canaryMetrics)[keyof typeof canaryMetrics];

export interface Measurement {
  readonly metric: Metric;
  readonly value: number;
  /** The value of the metric's dimension, if it has one. */
  readonly of?: string;
}

/**
 * The fields that let CloudWatch extract metrics from a log line, so that measuring takes no call. Written by hand because it is
 * short: a library would keep state between requests, print lines of its own, and add to every cold start.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function embedMetrics(
  namespace: string,
  time: number,
  measurements: readonly Measurement[],
): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  const plain: object[] = [];
  const directives: object[] = [];
  const direct = (dimensions: readonly string[], definitions: readonly object[]) =>
    directives.push({ Namespace: namespace, Dimensions: [dimensions], Metrics: definitions });
  for (const { metric, value, of } of measurements) {
    const definition = { Name: metric.name, Unit: metric.unit };
    members[metric.name] = value;
    if ('dimension' in metric) {
      members[metric.dimension] = of;
      direct([metric.dimension], [definition]);
    } else plain.push(definition);
  }
  if (plain.length > 0) direct([], plain);
  if (directives.length === 0) return {};
  return { _aws: { Timestamp: time, CloudWatchMetrics: directives }, ...members };
}
