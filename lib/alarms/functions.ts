import type { DeploymentConfig } from '../config.ts';
import type { FunctionMetrics, GatewayMetrics } from '../gateway-metrics.ts';
import { atOnce, fillGaps, lasting, type Watches } from './alarm.ts';

const nearing = 0.8;
const unreached = 5;
/** In five minutes. The upstream's failures are among them, and also ring their own alarms. */
const failures = 5;

/** The functions that callers reach. */
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
        // Without a reservation, the function competes with all others of the account. Its gaps need no filling: a function that
        // is this busy reports in every minute.
        metric: reservedConcurrency === undefined ? concurrencyOfAccount : gatewayFunction.concurrency,
        threshold: Math.ceil((reservedConcurrency ?? accountConcurrency) * nearing),
        times: 3,
        outOf: 5,
      },
      UrlFailing: {
        what: 'AWS answers requests with errors (4xx, 5xx) before they reach the function.',
        // Without the gateway's own refusals and failures: neither scanners nor a stop ring.
        metric: fillGaps(
          { refused: gatewayFunction.url.refused, failed: gatewayFunction.url.failed, own: own('errorAnswers') },
          'refused + failed - own',
        ),
        threshold: unreached,
        ...lasting,
      },
    }),
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
