import type { DeploymentConfig } from '../config.ts';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import { fillGaps } from './fill-gaps.ts';
import { hour, type Watch, type Watches } from './watch.ts';

/** How much of the deployment's daily limits is used. Only for limits that are set, as alarms cost money. */
export function watchSpending({ environment }: DeploymentConfig, metrics: GatewayMetrics): Watches {
  const { DAILY_LIMIT: ofAll, GUEST_DAILY_LIMIT: ofGuests } = environment;
  const watch = (limit: string, metric: 'dailyLimitUsed' | 'guestDailyLimitUsed'): Watch => ({
    what: `Four fifths of today's ${limit} are used. Once it is spent, requests are answered 503 until midnight UTC.`,
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
