import { createParser } from 'eventsource-parser';
import { canaryMetrics, embedMetrics } from '../report/metrics.ts';
import { collectFaults, type Environment, type Named, readNamed, required, text } from '../settings/read.ts';
import type { ReadSecret } from '../settings/secrets.ts';
import { settings } from '../settings/table.ts';

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

/** The gateway that a check calls, and as whom. */
interface Target {
  /** The gateway's base URL. */
  readonly url: string;
  readonly key: string;
  readonly serviceName: string;
  /** Milliseconds, for the stream and for anything else. */
  readonly timeLimits: { readonly stream: number; readonly other: number };
}

/** Why a check failed. It quotes nothing from the answer but its status. */
class CheckFailure extends Error {
  override readonly name = 'CheckFailure';
}

/** Each sends a request as a client would, and throws unless the answer is right. */
const checks: Readonly<Record<'stream' | 'models' | 'refusal', (target: Target) => Promise<void>>> = {
  async stream({ url, key, serviceName, timeLimits }) {
    const question = { role: 'user', content: 'Reply with one word: ok' };
    const answer = await fetch(new URL('/v1/chat/completions', url), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: serviceName, stream: true, messages: [question] }),
      signal: AbortSignal.timeout(timeLimits.stream),
    });
    expectThat(answer.status === 200, `status ${answer.status}`);
    expectThat(/^text\/event-stream\b/.test(answer.headers.get('content-type') ?? ''), 'no stream');
    const events = readEvents(await answer.text());
    const chunks = events.filter((data) => data !== '[DONE]').map((data) => JSON.parse(data) as Chunk);
    expectThat(!chunks.some(({ error }) => error), 'broken off');
    expectThat(
      chunks.every(({ model = serviceName }) => model === serviceName),
      'another model',
    );
    const ends = chunks.some(({ choices }) => choices?.some(({ finish_reason: reason }) => reason));
    expectThat(ends || events.includes('[DONE]'), 'no end');
    expectThat(
      chunks.some(({ choices }) => choices?.some(({ delta }) => delta)),
      'no answer',
    );
  },

  async models({ url, key, serviceName, timeLimits }) {
    const answer = await fetch(new URL('/v1/models', url), {
      headers: { 'x-api-key': key },
      signal: AbortSignal.timeout(timeLimits.other),
    });
    expectThat(answer.status === 200, `status ${answer.status}`);
    const { data } = (await answer.json()) as { readonly data?: readonly { readonly id?: unknown }[] };
    const ids = data?.map(({ id }) => id).join();
    expectThat(ids === `${serviceName},${serviceName}-vision`, 'other models');
  },

  /** A gateway that accepts a made-up key accepts anybody. */
  async refusal({ url, timeLimits }) {
    const answer = await fetch(new URL('/v1/models', url), {
      headers: { 'x-api-key': 'ltk_of-the-canary-and-made-up' },
      signal: AbortSignal.timeout(timeLimits.other),
    });
    expectThat(answer.status === 401, `status ${answer.status}`);
    const { error } = (await answer.json()) as { readonly error?: { readonly code?: unknown } };
    expectThat(error?.code === 'invalid_api_key', 'another code');
  },
};

interface Chunk {
  readonly model?: unknown;
  readonly error?: unknown;
  readonly choices?: readonly { readonly delta?: unknown; readonly finish_reason?: unknown }[];
}

function expectThat(condition: boolean, otherwise: string): void {
  if (!condition) throw new CheckFailure(otherwise);
}

function readEvents(text: string): string[] {
  const events: string[] = [];
  createParser({ onEvent: ({ data }) => events.push(data) }).feed(text);
  return events;
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
