import { types } from 'node:util';
import { parseJson } from '../../lambda/settings/read.ts';
import { createSseReader } from '../../lambda/stream/sse.ts';
import { CommandError } from '../command-line.ts';

export interface ProbeRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'OPTIONS';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes or JSON text as they are, or a value to send as JSON. */
  readonly body?: string | Uint8Array<ArrayBuffer> | object;
}

export const get = (path: string, headers: Record<string, string> = {}): ProbeRequest => {
  return { method: 'GET', path, headers };
};
export const post = (
  path: string,
  headers: Record<string, string>,
  body: NonNullable<ProbeRequest['body']>,
): ProbeRequest => {
  return { method: 'POST', path, headers, body };
};
/** Reading a quota is free. */
export const list = (headers: Record<string, string> = {}): ProbeRequest => get('/v1/models', headers);

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** Some bytes of a body, and how many milliseconds after the request was sent they came. */
export interface Arrival {
  readonly at: number;
  readonly bytes: Uint8Array;
}

export interface Reply {
  readonly title: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly arrivals: readonly Arrival[];
  /** Milliseconds until the last byte. */
  readonly duration: number;
}

export type Probe = (request: ProbeRequest) => Promise<Reply>;

/** Sends a request as any client would, once, and gives it up after so many milliseconds. */
export function createProbe(base: string, now: () => number, patience: number): Probe {
  return async (request) => {
    const { method, path, headers, body } = request;
    const sentAt = now();
    const title = titleOf(request);
    const signal = AbortSignal.timeout(patience);
    try {
      const response = await fetch(base + path, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        body: bodyOf(body),
        redirect: 'manual',
        signal,
      });
      const arrivals: Arrival[] = [];
      for await (const bytes of response.body ?? []) arrivals.push({ at: now() - sentAt, bytes });
      const text = Buffer.concat(arrivals.map(({ bytes }) => bytes)).toString();
      const { status } = response;
      return { title, status, headers: response.headers, text, arrivals, duration: now() - sentAt };
    } catch (error) {
      const reason = signal.aborted ? `no answer within ${patience / 1000} s` : reasonOf(error);
      throw new CommandError(`${title} failed: ${reason}`);
    }
  };
}

function bodyOf(body: ProbeRequest['body']): string | Uint8Array<ArrayBuffer> | null {
  if (body === undefined) return null;
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
}

function titleOf({ method, path, body }: ProbeRequest): string {
  const streams = typeof body === 'object' && 'stream' in body;
  return `${method} ${path}${streams ? ' (stream)' : ''}`;
}

export function readBody({ text, headers }: Pick<Reply, 'text' | 'headers'>) {
  if (!headers.get('content-type')?.startsWith('text/event-stream')) return { values: [parseJson(text)], comments: [] };
  const values: unknown[] = [];
  const reader = createSseReader({ onEvent: ({ data }) => values.push(parseJson(data)), onComment: () => {} });
  reader.push(Buffer.from(text));
  return { values, comments: [...text.matchAll(/^:(.*)$/gm)].map(([, comment = '']) => comment) };
}

/** All members within a JSON value, with their places in it. */
export function membersIn(value: unknown, within = ''): { place: string; name: string; value: unknown }[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const place = within === '' ? name : `${within}.${name}`;
    return [{ place, name, value: inner }, ...membersIn(inner, place)];
  });
}

/** The beginning of a reply in one line, for people. */
export function quote({ status, text }: Reply): string {
  const line = text
    .slice(0, 200)
    .replace(/\s+/g, ' ')
    .replace(/\p{Cc}/gu, '?')
    .trim();
  return `${status} ${line}`.trim();
}

/** `fetch` hides the real reason in the cause, and OpenSSL hides its reason among numbers and file names. */
function reasonOf(error: unknown): string {
  if (!types.isNativeError(error)) return String(error);
  const { cause } = error;
  if (!types.isNativeError(cause)) return error.message;
  if ('library' in cause && 'reason' in cause) return `TLS: ${cause.reason}`;
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}

/** Asks again after the burst limit was reached, as may happen if this runs twice in a minute: such a refusal is free. */
export function waitOutBurst(
  probe: Probe,
  wait: (milliseconds: number) => Promise<void>,
  tell: (text: string) => void,
): Probe {
  return async (request) => {
    for (let waits = 0; ; waits += 1) {
      const reply = await probe(request);
      const seconds = Number(reply.headers.get('retry-after') ?? 0);
      const passes = reply.status === 429 && reply.headers.get('x-should-retry') !== 'false';
      if (!passes || waits === 3 || !(seconds > 0 && seconds <= 60)) return reply;
      tell(`The burst limit is reached: going on in ${seconds} s.\n`);
      await wait(seconds * 1000);
    }
  };
}
