import type { DeploymentConfig } from '../config.ts';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import { atOnce, fillGaps, hour, lasting, standing, type Watches } from './alarm.ts';

/** An upstream is failing at this share of failed attempts, if there are at least so many. */
const failing = { percent: 10, tries: 5 };
/** Failures of a class that only an operator can fix. Fewer may be a caller's doing. */
const several = 3;
/** With fewer streams, the 90th percentile says little. */
const fewestStreams = 5;

/**
 * What the gateway reports about upstreams and itself. Upstream alarms count attempts, not requests: a dead upstream shows even
 * while failover hides it from callers, and requests that never went upstream don't count.
 */
export function watchGateway({ slowFirstByte }: DeploymentConfig, metrics: GatewayMetrics): Watches {
  const { own } = metrics;
  const tries = (statistic: string) => own('upstreamFailedTries', statistic);
  const failuresOf = (failureClass: string) => fillGaps({ failures: metrics.upstreamFailuresOf(failureClass) });
  const firstByte = (statistic: string) => own('timeToFirstByte', statistic);
  return {
    UpstreamCredentialsRefused: {
      what: 'The upstream refused a key (401), or its account is empty (402).',
      metric: failuresOf('credentials'),
      threshold: 1,
      times: 1,
      outOf: hour, // or it would ring again with every request of a quiet night
    },
    UpstreamFailing: {
      what: `At least ${failing.percent} % of the attempts to reach upstreams failed.`,
      metric: fillGaps(
        { failed: tries('Sum'), asked: tries('SampleCount') },
        `IF(failed >= ${failing.tries}, 100 * failed / asked, 0)`,
      ),
      threshold: failing.percent,
      ...lasting,
    },
    UpstreamDown: {
      what: 'At least half of the attempts to reach upstreams failed, three times within an hour.',
      metric: fillGaps({ share: tries('Average') }),
      threshold: 0.5,
      times: 3,
      outOf: hour,
    },
    UpstreamLimited: {
      what: 'The upstream limits the account that all callers share (429).',
      metric: failuresOf('limited'),
      threshold: several,
      ...lasting,
    },
    UpstreamMissing: {
      what: 'The upstream does not know the path or the model (404).',
      metric: failuresOf('missing'),
      threshold: several,
      ...lasting,
    },
    UpstreamSlow: {
      what: `One stream in ten waits ${slowFirstByte} s or longer for its first event.`,
      metric: fillGaps(
        { streams: firstByte('SampleCount'), slowest: firstByte('p90') },
        `IF(streams >= ${fewestStreams}, slowest, 0)`,
      ),
      threshold: slowFirstByte * 1000,
      times: 3,
      outOf: 4,
    },
    GatewayErrors: {
      what: 'The gateway itself failed: it answered with an error of its own.',
      metric: fillGaps({ errors: own('gatewayErrors') }),
      ...atOnce,
    },
    ChargesLeftStanding: {
      what: 'Charges may stand that nobody should pay: a table did not answer, or a process was stopped.',
      metric: fillGaps({ standing: own('chargesLeftStanding') }),
      ...atOnce,
      threshold: standing,
    },
    SecretsNotRefreshed: {
      what: 'A secret can no longer be read. Its last known value stays in use.',
      metric: fillGaps({ failed: own('secretsNotRefreshed') }),
      threshold: 1,
      times: 3,
      outOf: 6, // an idle environment refreshes nothing
    },
  };
}
