import { createParser } from 'eventsource-parser';

/** The gateway that a check calls, and as whom. */
export interface Target {
  /** The gateway's base URL. */
  readonly url: string;
  readonly key: string;
  readonly serviceName: string;
  /** Milliseconds, for the stream and for anything else. */
  readonly timeLimits: { readonly stream: number; readonly other: number };
}

/** Why a check failed. It quotes nothing from the answer but its status. */
export class CheckFailure extends Error {
  override readonly name = 'CheckFailure';
}

/** Each sends a request as a client would, and throws unless the answer is right. */
export const checks: Readonly<Record<'stream' | 'models' | 'refusal', (target: Target) => Promise<void>>> = {
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
