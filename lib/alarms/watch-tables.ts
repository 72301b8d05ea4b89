import type { GatewayMetrics } from '../gateway-metrics.ts';
import { fillGaps } from './fill-gaps.ts';
import { atOnce, type Watches } from './watch.ts';

export function watchTables({ tableUses }: GatewayMetrics): Watches {
  const watched = Object.entries(tableUses).map(([use, { throttled }]) => {
    const what = 'DynamoDB refused requests, which the gateway then answered with 503.';
    return [
      `${use}Throttled`,
      { what, runbook: 'tables-throttled', metric: fillGaps({ throttled }), ...atOnce },
    ] as const;
  });
  return Object.fromEntries(watched);
}
