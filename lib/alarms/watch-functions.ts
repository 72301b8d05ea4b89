import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { DeploymentConfig } from '../config.ts';
import type { FunctionMetrics, GatewayMetrics } from '../gateway-metrics.ts';
import type { Watches } from './watch.ts';

const nearing = 0.8;
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
  };
}

function watchFunction(name: string, subject: string, { crashes, throttles }: FunctionMetrics): Watches {
  return {
    [`${name}Errors`]: {
      what: `${subject} crashed, ran out of time or memory, or did not start.`,
      runbook: 'function-errors',
      metric: crashes,
      threshold: 1,
      times: 1,
    },
    [`${name}Throttled`]: {
      what: `${subject} is short of executions: Lambda turned requests away.`,
      runbook: 'function-throttled',
      metric: throttles,
      threshold: 1,
      times: 1,
    },
  };
}

/** Of a web function nothing else is documented: no crashes, no throttles, no number of environments. */
function watchEndpoint(metric: IMetric): Watches {
  return {
    WebFailing: {
      what: `The endpoint of the web function answered with ${failures} failures (5xx) or more, twice in a row.`,
      runbook: 'web-function-failing',
      metric,
      threshold: failures,
      times: 2,
    },
  };
}

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
    },
  };
}
