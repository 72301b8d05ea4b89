import type { DeploymentConfig } from '../config.ts';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import { atOnce, fillGaps, hour, standing, sumOfDay, type Watch, type Watches } from './alarm.ts';

/** Alarms for optional settings: sign-in with OIDC, daily limits, and budgets. */
export function watchSettings(config: DeploymentConfig, metrics: GatewayMetrics): Watches {
  const { environment } = config;
  const { own } = metrics;
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
    ...watchDay(config, metrics),
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

/** Figures that the operator wants to be told of: nobody is refused for them. */
function watchDay(
  { alarmTokens, alarmSpending, settings, environment }: DeploymentConfig,
  metrics: GatewayMetrics,
): Watches {
  const ofDay = { runbook: 'much-is-used', times: 1, outOf: 1 };
  const models = [...(settings.budget.prices?.keys() ?? [])];
  const spent = Object.fromEntries(models.map((model, place) => [`spent${place}`, metrics.spentOn(model)]));
  return {
    ...(alarmTokens !== undefined && {
      ManyTokens: {
        what: `Prompts and answers of the last day had ${alarmTokens.toLocaleString('en')} tokens or more.`,
        metric: sumOfDay({ input: metrics.own('inputTokens'), output: metrics.own('outputTokens') }),
        threshold: alarmTokens,
        ...ofDay,
      },
    }),
    ...(alarmSpending !== undefined && {
      MuchSpent: {
        what: `Answers of the last day cost ${alarmSpending / 1_000_000} ${environment.CURRENCY} or more.`,
        metric: sumOfDay(spent),
        threshold: alarmSpending / 1_000_000,
        ...ofDay,
      },
    }),
  };
}
