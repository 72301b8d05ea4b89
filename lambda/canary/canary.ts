import { canaryMetrics, embedMetrics } from '../report/metrics.ts';
import { collectFaults, type Environment, type Named, readNamed, required, text } from '../settings/read.ts';
import type { ReadSecret } from '../settings/secrets.ts';
import { settings } from '../settings/table.ts';
import { CheckFailure, checks, type Target } from './checks.ts';

interface Dependencies {
  readonly readSecret: ReadSecret;
  readonly writeLog: (line: string) => void;
  readonly now: () => number;
  readonly timeLimits?: Target['timeLimits'];
}

/** Models may answer slowly, but the function has only a minute. */
const usualLimits = { stream: 45_000, other: 10_000 };

/**
 * Asks the gateway from outside and logs one line, with the number of failed checks as its metric. The metric is sent even when
 * it is 0, so that an alarm notices missing runs. Never throws, because Lambda would run it again.
 */
export function createCanary(config: CanaryConfig, dependencies: Dependencies): () => Promise<void> {
  const { readSecret, writeLog, now, timeLimits = usualLimits } = dependencies;

  const runChecks = async (): Promise<Record<string, string>> => {
    const key = await readKey(() => readSecret(config.canarySecretId));
    if (key === undefined) return { key: 'none in the secret' };
    const target = { ...config, url: config.canaryUrl, key, timeLimits };
    const results = Object.entries(checks).map(async ([name, check]) => {
      const result = await check(target).then(() => 'ok', describeFailure);
      return [name, result] as const;
    });
    return Object.fromEntries(await Promise.all(results));
  };

  return async () => {
    const begun = now();
    const results = await runChecks().catch((error) => ({ key: describeFailure(error) }));
    const value = Object.values(results).filter((result) => result !== 'ok').length;
    const time = now();
    const line = {
      ...{ time: new Date(time).toISOString(), level: value > 0 ? 'error' : 'info', message: 'canary' },
      ...{ ...results, duration: time - begun },
      ...embedMetrics(config.metricsNamespace, time, [{ metric: canaryMetrics.failures, value }]),
    };
    writeLog(`${JSON.stringify(line)}\n`);
  };
}

/** Takes the output of `keys issue --json`, or the bare key. */
async function readKey(read: () => Promise<string>): Promise<string | undefined> {
  const [key] = /ltk_[\w-]+/.exec(await read()) ?? [];
  return key;
}

/** The kind of error or of its cause. Not the message, which may quote what was sent. */
function describeFailure(error: unknown): string {
  if (error instanceof CheckFailure) return error.message;
  const { name, cause } = error as { readonly name?: string; readonly cause?: { readonly code?: string } };
  return cause?.code ?? name ?? 'unknown';
}

const { SERVICE_NAME, METRICS_NAMESPACE } = settings;

/** All are set by the stack. */
const canarySettings = {
  CANARY_URL: required(text('the http(s) URL of the gateway', /^https?:\/\/[^\s?#]+$/)),
  CANARY_SECRET_ID: required(text('the name or ARN of a secret', /^\S+$/)),
  ...{ SERVICE_NAME, METRICS_NAMESPACE },
} as const;

/** The canary's settings. */
type CanaryConfig = Named<typeof canarySettings>;

export function readCanaryConfig(environment: Environment): CanaryConfig {
  return collectFaults((faults) => readNamed(canarySettings, environment, faults));
}
