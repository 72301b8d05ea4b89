import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { DeploymentConfig } from '../config.ts';
import type { FunctionMetrics, GatewayMetrics } from '../gateway-metrics.ts';
import { fillGaps } from './fill-gaps.ts';
import { atOnce, lasting, type Watches } from './watch.ts';

const nearing = 0.8;
const failing = { percent: 10, answers: 5 };
const refusing = 5;
/** Of five minutes; the upstream's failures are among them, and ring by themselves. */
const failures = 5;

/** What becomes of the functions that callers reach. */
export function watchFunctions(config: DeploymentConfig, metrics: GatewayMetrics): Watches {
  const { gatewayFunction, walletFunction, webFailures } = metrics;
  return {
    ...(gatewayFunction && watchFunction('Function', 'The function', gatewayFunction)),
    ...(webFailures && watchEndpoint(webFailures)),
    ...watchFunction('Wallet', 'The function of the page /cli', walletFunction),
    ...(gatewayFunction && watchConcurrency(config, metrics, gatewayFunction)),
    ...(gatewayFunction && watchUrl(metrics, gatewayFunction)),
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

/** Of a web function nothing else is documented: no crashes, no throttles, no number of environments. */
function watchEndpoint(metric: IMetric): Watches {
  return {
    WebFailing: {
      what: `The endpoint of the web function answered with ${failures} failures (5xx) or more in five minutes, for ten minutes.`,
      runbook: 'web-function-failing',
      metric,
      threshold: failures,
      ...lasting,
    },
  };
}

/** Of functions that are this busy, no figure is missing, if some are late. */
function watchConcurrency(
  { reservedConcurrency, accountConcurrency }: DeploymentConfig,
  { concurrencyOfAccount }: GatewayMetrics,
  { concurrency }: FunctionMetrics,
): Watches {
  return {
    NearingConcurrency: {
      what: 'Four fifths of the executions that Lambda allows at once are taken.',
      runbook: 'nearing-concurrency',
      // Without a share of its own, the function competes with all others of the account.
      metric: reservedConcurrency === undefined ? concurrencyOfAccount : concurrency,
      threshold: Math.ceil((reservedConcurrency ?? accountConcurrency) * nearing),
      times: 3,
      among: 5,
    },
  };
}

/** What callers get, whoever answers them: the function, or in its stead the platform, of which the function knows nothing. */
function watchUrl({ own }: GatewayMetrics, { url }: FunctionMetrics): Watches {
  return {
    UrlRefusing: {
      what: 'AWS refuses requests (4xx) before they reach the function.',
      runbook: 'url-refusing',
      // What the function refuses is a request to it as well: scanners come to nothing here.
      metric: fillGaps({ refused: url.refused, requests: own('requests') }, 'refused - requests'),
      threshold: refusing,
      ...lasting,
    },
    UrlFailing: {
      what: `Of all answers but refusals (4xx), at least ${failing.percent} % are failures (5xx).`,
      runbook: 'url-failing',
      metric: fillGaps(
        { failed: url.failed, requests: url.requests, refused: url.refused },
        `IF(failed >= ${failing.answers}, 100 * failed / (requests - refused), 0)`,
      ),
      threshold: failing.percent,
      ...lasting,
    },
  };
}
