import { createParser } from 'eventsource-parser';
import { createPipeline } from '../pipeline.ts';
import { createWriteLine } from '../report/log.ts';
import { sections } from '../settings/definitions.ts';
import { required, text } from '../settings/kinds.ts';
import { collectFaults, type Environment, type Named, readNamed } from '../settings/read-settings.ts';
import type { ReadSecret } from '../settings/secrets.ts';

interface Dependencies {
  readonly readSecret: ReadSecret;
  readonly writeLog: (line: string) => void;
  readonly now: () => number;
  /** In milliseconds. */
  readonly timeLimits?: typeof usualLimits;
}

/** By check: `ok`, or what failed. */
type Results = Readonly<Record<string, string>>;

/** Models may be slow, but the function has only a minute. */
const usualLimits = { stream: 45_000, other: 10_000 };

/**
 * Checks the gateway from outside and logs one line, with the number of failed checks as a metric. The metric is sent even if it is
 * 0, so that an alarm notices missing runs. Never throws, because Lambda would retry it.
 */
export function createCanary(config: CanaryConfig, dependencies: Dependencies): () => Promise<void> {
  const { readSecret, writeLog, now, timeLimits = usualLimits } = dependencies;
  const line = createWriteLine({ write: writeLog, now, metricsNamespace: config.metricsNamespace });

  const readKey = async (): Promise<{ readonly key: string }> => {
    // The output of `keys issue --json`, or the bare key.
    const [key] = /ltk_[\w-]+/.exec(await readSecret(config.canarySecretId)) ?? [];
    if (key === undefined) throw new CheckFailure('none in the secret');
    return { key };
  };
  const examine = createPipeline<object, object, Results>((_, error) => ({ key: describeFailure(error) }))
    .step({ before: readKey })
    .handler(async ({ key }) => {
      const checks = Object.entries(createChecks(config, key, timeLimits));
      const results = checks.map(async ([name, check]) => [name, await check().then(() => 'ok', describeFailure)]);
      return Object.fromEntries(await Promise.all(results));
    });

  return async () => {
    const begun = now();
    const results = await examine({});
    const failures = Object.values(results).filter((result) => result !== 'ok').length;
    line(failures > 0 ? 'error' : 'info', 'canary', { ...results, duration: now() - begun }, { failures });
  };
}

/** The code or name of an error, but not its message, which may quote the request. */
function describeFailure(error: unknown): string {
  if (error instanceof CheckFailure) return error.message;
  const { name, cause } = error as { readonly name?: string; readonly cause?: { readonly code?: string } };
  return cause?.code ?? name ?? 'unknown';
}

/** Why a check failed. Of the response, it quotes only the status. */
class CheckFailure extends Error {}

/** Each check sends a request like a client, and throws unless the response is right. */
function createChecks({ canaryUrl, serviceName }: CanaryConfig, key: string, timeLimits: typeof usualLimits) {
  const ask = async (path: string, status: number, init: RequestInit, limit = timeLimits.other) => {
    const answer = await fetch(new URL(path, canaryUrl), { ...init, signal: AbortSignal.timeout(limit) });
    expectThat(answer.status === status, `status ${answer.status}`);
    return answer;
  };
  return {
    async stream() {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const messages = [{ role: 'user', content: 'Reply with one word: ok' }];
      const body = JSON.stringify({ model: serviceName, stream: true, messages });
      const answer = await ask('/v1/chat/completions', 200, { method: 'POST', headers, body }, timeLimits.stream);
      expectThat(/^text\/event-stream\b/.test(answer.headers.get('content-type') ?? ''), 'no stream');
      const events = readEvents(await answer.text());
      const chunks = events.filter((data) => data !== '[DONE]').map((data) => JSON.parse(data) as Chunk);
      expectThat(!chunks.some(({ error }) => error), 'broken off');
      expectThat(!chunks.some(({ model = serviceName }) => model !== serviceName), 'another model');
      const choices = chunks.flatMap((chunk) => chunk.choices ?? []);
      expectThat(events.includes('[DONE]') || choices.some((choice) => choice.finish_reason), 'no end');
      expectThat(
        choices.some((choice) => choice.delta),
        'no answer',
      );
    },

    async models() {
      const answer = await ask('/v1/models', 200, { headers: { 'x-api-key': key } });
      const { data } = (await answer.json()) as { readonly data?: readonly { readonly id?: unknown }[] };
      const ids = data?.map(({ id }) => id) ?? [];
      const wanted = [serviceName, `${serviceName}-vision`, `${serviceName}-embedding`];
      // The embedding model is optional.
      const areWanted = ids.length >= 2 && ids.every((id, index) => id === wanted[index]);
      expectThat(areWanted, 'other models');
    },

    /** A gateway that accepts a made-up key accepts anyone. */
    async refusal() {
      const answer = await ask('/v1/models', 401, { headers: { 'x-api-key': 'ltk_of-the-canary-and-made-up' } });
      const { error } = (await answer.json()) as { readonly error?: { readonly code?: unknown } };
      expectThat(error?.code === 'invalid_api_key', 'another code');
    },
  };
}

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

/** The stack sets all of them. */
const canarySettings = {
  CANARY_URL: required(text('the http(s) URL of the gateway', /^https?:\/\/[^\s?#]+$/)),
  CANARY_SECRET_ID: required(text('the name or ARN of a secret', /^\S+$/)),
  SERVICE_NAME: sections.service.SERVICE_NAME,
  METRICS_NAMESPACE: sections.log.METRICS_NAMESPACE,
} as const;

type CanaryConfig = Named<typeof canarySettings>;

export function readCanaryConfig(environment: Environment): CanaryConfig {
  return collectFaults((faults) => readNamed(canarySettings, environment, faults));
}
