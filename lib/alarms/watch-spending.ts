import type { DeploymentConfig } from '../config.ts';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import { fillGaps } from './fill-gaps.ts';
import { hour, type Watch, type Watches } from './watch.ts';

/** How far the limits of the whole deployment are used; only where they are set, for an alarm costs something. */
export function watchSpending({ environment }: DeploymentConfig, metrics: GatewayMetrics): Watches {
  const { DAILY_LIMIT: ofAll, GUEST_DAILY_LIMIT: ofGuests } = environment;
  const watch = (limit: string, metric: 'dailyLimitUsed' | 'guestDailyLimitUsed'): Watch => ({
    what: `Four fifths of ${limit} are used today; what comes when it is spent is answered 503 until midnight UTC.`,
    runbook: 'a-daily-limit-is-nearly-spent',
    metric: fillGaps({ used: metrics.own(metric, 'Average') }),
    threshold: 80,
    times: 1,
    among: hour, // or it would ring anew with each request of a quiet night
  });
  return {
    ...(ofAll !== undefined && { NearingDailyLimit: watch('DAILY_LIMIT', 'dailyLimitUsed') }),
    ...((ofAll ?? ofGuests) !== undefined && {
      NearingGuestDailyLimit: watch('GUEST_DAILY_LIMIT', 'guestDailyLimitUsed'),
    }),
  };
}
