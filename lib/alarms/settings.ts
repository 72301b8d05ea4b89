import type { DeploymentConfig } from '../config.ts';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import { atOnce, fillGaps, hour, standing, type Watch, type Watches } from './alarm.ts';

/** Alarms for optional settings: sign-in with OIDC, daily limits, and budgets. */
export function watchSettings({ environment }: DeploymentConfig, { own }: GatewayMetrics): Watches {
  const { OIDC_ISSUER, DAILY_LIMIT, GUEST_DAILY_LIMIT, SPEND_LIMIT, PRICES } = environment;
  const untilMidnight = 'requests are answered 503 until midnight UTC';
  // Or they would ring again with every request of a quiet night.
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
    ...(OIDC_ISSUER !== undefined && {
      SignInsFailing: {
        what: "People can't sign in with their company's account: its provider does not answer, or its answers can't be trusted.",
        metric: fillGaps({ failed: own('signInsFailed') }),
        threshold: 1,
        times: 2,
        outOf: hour,
      },
    }),
    ...(DAILY_LIMIT !== undefined && { NearingDailyLimit: nearing('DAILY_LIMIT', 'dailyLimitUsed') }),
    ...((DAILY_LIMIT ?? GUEST_DAILY_LIMIT) !== undefined && {
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
