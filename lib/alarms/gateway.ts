import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';
import type { DeploymentConfig } from '../config.ts';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import { atOnce, fillGaps, hour, type Watch, type Watches } from './alarm.ts';

/** A single lost answer of a table is no reason to wake anybody. */
const standing = 5;

/** What the gateway reports about itself. */
export function watchGateway({ own }: GatewayMetrics): Watches {
  return {
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
      outOf: 6, // an idle environment reads nothing
    },
  };
}

/** Whether people can sign in with their company's account. */
export function watchSignIn({ environment }: DeploymentConfig, { own }: GatewayMetrics): Watches {
  if (environment.OIDC_ISSUER === undefined) return {};
  return {
    SignInsFailing: {
      what: "People can't sign in with their company's account: its provider does not answer, or its answers can't be trusted.",
      metric: fillGaps({ failed: own('signInsFailed') }),
      threshold: 1,
      times: 2,
      outOf: 12,
    },
  };
}

/** How much of a day's limits is used, and what budgets lose. Only for settings that are set, as alarms cost money. */
export function watchLimits({ environment }: DeploymentConfig, { own }: GatewayMetrics): Watches {
  const { DAILY_LIMIT: ofAll, GUEST_DAILY_LIMIT: ofGuests, SPEND_LIMIT, PRICES } = environment;
  const untilMidnight = 'requests are answered 503 until midnight UTC';
  // Or they would ring anew with each request of a quiet night.
  const onceAnHour = { times: 1, outOf: hour };
  const nearing = (limit: string, metric: 'dailyLimitUsed' | 'guestDailyLimitUsed'): Watch => ({
    what: `Four fifths of today's ${limit} are used. Once it is spent, ${untilMidnight}.`,
    runbook: 'a-daily-limit-is-nearly-spent',
    metric: fillGaps({ used: own(metric, 'Average') }),
    threshold: 80,
    ...onceAnHour,
  });
  const spent = {
    runbook: 'the-spending-limit-is-nearly-reached',
    metric: fillGaps({ spent: own('spendShare', 'Maximum') }),
    ...onceAnHour,
  };
  return {
    ...(ofAll !== undefined && { NearingDailyLimit: nearing('DAILY_LIMIT', 'dailyLimitUsed') }),
    ...((ofAll ?? ofGuests) !== undefined && {
      NearingGuestDailyLimit: nearing('GUEST_DAILY_LIMIT', 'guestDailyLimitUsed'),
    }),
    ...(SPEND_LIMIT !== undefined && {
      NearingSpendLimit: {
        what: `Four fifths of today's SPEND_LIMIT are spent. Beyond it, ${untilMidnight}.`,
        ...spent,
        threshold: 80,
      },
      SpendLimitReached: { what: `Today's SPEND_LIMIT is spent: ${untilMidnight}.`, ...spent, threshold: 100 },
    }),
    ...(PRICES !== undefined && {
      BudgetsLeftStanding: {
        what: 'What answers really cost could not be written: their reservations count as if they had been spent.',
        metric: fillGaps({ standing: own('budgetsLeftStanding') }),
        ...atOnce,
        threshold: standing,
      },
      ReservationsLost: {
        what: 'Reservations were lost with their process: they count against budgets until they are released.',
        metric: fillGaps({ lost: own('lostReservations') }),
        ...atOnce,
        threshold: standing,
      },
    }),
  };
}

export function watchTables({ tableUses }: GatewayMetrics): Watches {
  const what = 'DynamoDB refused requests, which the gateway then answered with 503.';
  const watched = Object.entries(tableUses).map(([use, { throttled }]): [string, Watch] => [
    `${use}Throttled`,
    { what, runbook: 'tables-throttled', metric: fillGaps({ throttled }), ...atOnce },
  ]);
  return Object.fromEntries(watched);
}

/** It runs about every five minutes, so this holds at least two runs, even if figures are late. */
const period = Duration.minutes(15);

/** Rings unless one of the latest runs passed. No figures at all count as failure. */
export function watchCanary({ canaryFailures }: GatewayMetrics): Watches {
  if (canaryFailures === undefined) return {};
  const failures = canaryFailures.with({ statistic: 'Minimum', period });
  return {
    CanaryFailing: {
      what: 'For a quarter of an hour, no run of the canary, which asks from outside like a client, has passed.',
      metric: new MathExpression({ expression: 'FILL(failures, 1)', usingMetrics: { failures }, period }),
      threshold: 1,
      times: 1,
      outOf: 1,
      ringsWithoutData: true,
    },
  };
}
