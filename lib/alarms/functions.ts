import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';
import type { DeploymentConfig } from '../config.ts';
import type { FunctionMetrics, GatewayMetrics } from '../gateway-metrics.ts';
import { atOnce, fillGaps, lasting, type Watches } from './alarm.ts';

const nearing = 0.8;
const unreached = 5;
/** In five minutes. Includes the upstream's failures, which also have their own alarms. */
const failures = 5;

/** The public functions, their tables, and the canary. */
export function watchFunctions(config: DeploymentConfig, metrics: GatewayMetrics): Watches {
  const { reservedConcurrency, accountConcurrency } = config;
  const { own, gatewayFunction, accountsFunction, webFailures, concurrencyOfAccount } = metrics;
  return {
    ...(gatewayFunction && watchFunction('Function', 'The function', gatewayFunction)),
    // AWS documents no other metric of a web function: no crashes, throttles or environments.
    ...(webFailures && {
      WebFailing: {
        what: `The endpoint of the web function answered with ${failures} failures (5xx) or more in five minutes, for ten minutes.`,
        runbook: 'web-function-failing',
        metric: webFailures,
        threshold: failures,
        ...lasting,
      },
    }),
    ...watchFunction('Wallet', 'The function of the page /cli', accountsFunction),
    ...(gatewayFunction && {
      NearingConcurrency: {
        what: 'Four fifths of the executions that Lambda allows at once are taken.',
        // Without a reservation, the function shares the account's concurrency. No gaps to fill: a function this busy reports
        // every minute.
        metric: reservedConcurrency === undefined ? concurrencyOfAccount : gatewayFunction.concurrency,
        threshold: Math.ceil((reservedConcurrency ?? accountConcurrency) * nearing),
        times: 3,
        outOf: 5,
      },
      UrlFailing: {
        what: 'AWS answers requests with errors (4xx, 5xx) before they reach the function.',
        // Minus the gateway's own error responses, so that neither scanners nor a stop make it ring.
        metric: fillGaps(
          { refused: gatewayFunction.url.refused, failed: gatewayFunction.url.failed, own: own('errorAnswers') },
          'refused + failed - own',
        ),
        threshold: unreached,
        ...lasting,
      },
    }),
    ...watchTables(metrics),
    ...watchCanary(metrics),
  };
}

function watchFunction(name: string, subject: string, { crashes, throttles }: FunctionMetrics): Watches {
  return {
    [`${name}Errors`]: {
      what: `${subject} crashed, ran out of time or memory, or did not start.`,
      runbook: 'function-errors',
      metric: fillGaps({ crashes }),
      ...atOnce,
    },
    [`${name}Throttled`]: {
      what: `${subject} is short of executions: Lambda turned requests away.`,
      runbook: 'function-throttled',
      metric: fillGaps({ throttles }),
      ...atOnce,
    },
  };
}

function watchTables({ tableUses }: GatewayMetrics): Watches {
  const what = 'DynamoDB refused requests, which the gateway then answered with 503.';
  return Object.fromEntries(
    Object.entries(tableUses).map(([use, { throttled }]) => [
      `${use}Throttled`,
      { what, runbook: 'tables-throttled', metric: fillGaps({ throttled }), ...atOnce },
    ]),
  );
}

/** The canary runs about every five minutes, so this spans at least two runs, even if data points are late. */
const period = Duration.minutes(15);

/** Rings unless one of the latest runs passed. No data counts as a failure. */
function watchCanary({ canaryFailures }: GatewayMetrics): Watches {
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
