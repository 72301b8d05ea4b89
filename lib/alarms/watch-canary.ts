import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import type { Watches } from './watch.ts';

/** It runs about every five minutes, so this holds at least two runs, even if figures are late. */
const period = Duration.minutes(15);

/** Rings unless one of the latest runs passed. No figures at all count as failure. */
export function watchCanary({ canaryFailures }: GatewayMetrics): Watches {
  if (canaryFailures === undefined) return {};
  const failures = canaryFailures.with({ statistic: 'Minimum', period });
  return {
    CanaryFailing: {
      what: 'For a quarter of an hour, no run of the canary, which asks from outside like a client, has passed.',
      runbook: 'canary-failing',
      metric: new MathExpression({ expression: 'FILL(failures, 1)', usingMetrics: { failures }, period }),
      threshold: 1,
      times: 1,
      among: 1,
      silenceRings: true,
    },
  };
}
