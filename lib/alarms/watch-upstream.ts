import { Duration } from 'aws-cdk-lib';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import type { Watches } from './watch.ts';

/** A failing upstream is one that spoils more than every tenth request, and more than a few. */
const failing = { percent: 10, refunds: 5 };

/** What the upstream does to the gateway. */
export function watchUpstream(metrics: GatewayMetrics): Watches {
  return {
    UpstreamCredentialsRefused: {
      what: 'The upstream refused a key (401), or its account is empty (402).',
      runbook: 'upstream-credentials-refused',
      metric: metrics.upstreamFailuresOf('credentials'),
      threshold: 1,
      times: 1,
    },
    UpstreamFailing: {
      what: `Of all requests, at least ${failing.percent} % were given back because the upstream failed them.`,
      runbook: 'upstream-failing',
      metric: new MathExpression({
        expression: `IF(refunds >= ${failing.refunds}, 100 * refunds / requests, 0)`,
        usingMetrics: { refunds: metrics.own('refunds'), requests: metrics.own('requests') },
        period: Duration.minutes(5),
      }),
      threshold: failing.percent,
      times: 2,
    },
  };
}
