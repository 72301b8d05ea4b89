import { Duration } from 'aws-cdk-lib';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import type { Watches } from './watch.ts';

/** It runs every five minutes, more or less: in this time two runs are certain, if figures are a little late. */
const period = Duration.minutes(15);

/** The best of the latest runs; where nothing is heard of any, they have failed. */
export function watchCanary({ canaryFailures }: GatewayMetrics): Watches {
  if (canaryFailures === undefined) return {};
  const failures = canaryFailures.with({ statistic: 'Minimum', period });
  return {
    CanaryFailing: {
      what: 'For a quarter of an hour the canary, which asks from outside as a client does, did not get what it should.',
      runbook: 'canary-failing',
      metric: new MathExpression({ expression: 'FILL(failures, 1)', usingMetrics: { failures }, period }),
      threshold: 1,
      times: 1,
      among: 1,
      silenceRings: true,
    },
  };
}
