import type { GatewayMetrics } from '../gateway-metrics.ts';
import { fillGaps } from './fill-gaps.ts';
import { atOnce, type Watches } from './watch.ts';

/** A single lost answer of a table is no reason to wake anybody. */
const standing = 5;

/** What the gateway reports about itself. */
export function watchGateway({ own }: GatewayMetrics): Watches {
  return {
    GatewayErrors: {
      what: 'The gateway itself failed: it answered with an error of its own.',
      runbook: 'gateway-errors',
      metric: fillGaps({ errors: own('gatewayErrors') }),
      ...atOnce,
    },
    ChargesLeftStanding: {
      what: 'Charges may stand that nobody should pay: a table did not answer, or a process was stopped.',
      runbook: 'charges-left-standing',
      metric: fillGaps({ standing: own('chargesLeftStanding') }),
      ...atOnce,
      threshold: standing,
    },
    SecretsNotRefreshed: {
      what: 'A secret can no longer be read. Its last known value stays in use.',
      runbook: 'secrets-not-refreshed',
      metric: fillGaps({ failed: own('secretsNotRefreshed') }),
      threshold: 1,
      times: 3,
      among: 6, // an idle environment reads nothing
    },
  };
}
