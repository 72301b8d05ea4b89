import { expect } from '@jest/globals';

type Line = Readonly<Record<string, unknown>>;

/** The `_aws` member of a log line as CloudWatch specifies it, restricted to one list of at most one dimension. */
interface Embedded {
  readonly Timestamp: number;
  readonly CloudWatchMetrics: readonly {
    readonly Dimensions: readonly [readonly string[]];
    readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
  }[];
}

const unit = expect.stringMatching(/^(Count|Milliseconds|Percent|None)$/);

/** The metrics that CloudWatch would extract from a line, such as `Refusals(rate_limited)`, with their values. */
export function metricsOf(line: Line, namespace = 'InferenceGateway'): Record<string, number> {
  if (line._aws === undefined) return {};
  const { Timestamp, CloudWatchMetrics, ...others } = line._aws as Embedded;
  expect([Number.isInteger(Timestamp) && Timestamp > 1.6e12, others]).toEqual([true, {}]);
  expect(CloudWatchMetrics).not.toEqual([]);
  const found: Record<string, number> = {};
  for (const { Dimensions, Metrics, ...rest } of CloudWatchMetrics) {
    expect(rest).toEqual({ Namespace: namespace });
    const [[dimension, ...more], ...otherLists] = Dimensions;
    expect([more, otherLists]).toEqual([[], []]);
    if (dimension !== undefined) expect(line[dimension]).toEqual(expect.stringMatching(/^[\w-]{1,1024}$/));
    expect(Metrics).not.toEqual([]);
    for (const metric of Metrics) {
      const { Name, Unit } = metric;
      expect(metric).toEqual({ Name: expect.stringMatching(/^\w{1,1024}$/), Unit: unit });
      const value = line[Name];
      // Only amounts of money may be negative.
      if (typeof value !== 'number' || (value < 0 && Unit !== 'None')) throw new Error(`${Name} is ${value}`);
      found[dimension === undefined ? Name : `${Name}(${line[dimension]})`] = value;
    }
  }
  return found;
}
