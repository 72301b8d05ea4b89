import { parseJson } from '../../lambda/settings/json.ts';
import { createSseReader } from '../../lambda/stream/sse.ts';
import { plainText } from '../../local/plain-text.ts';
import { CommandError } from '../command-line.ts';

export interface ProbeRequest {
  readonly method: 'GET' | 'POST' | 'OPTIONS';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

type Headers = Record<string, string>;

export const get = (path: string, headers: Headers = {}): ProbeRequest => ({ method: 'GET', path, headers });

/** Sends bytes and strings unchanged, and other values as JSON. */
export function post(path: string, headers: Headers, body: string | Uint8Array<ArrayBuffer> | object): ProbeRequest {
  const isReady = typeof body === 'string' || body instanceof Uint8Array;
  const typed = { 'content-type': 'application/json', ...headers };
  return { method: 'POST', path, headers: typed, body: isReady ? body : JSON.stringify(body) };
}

/** Free, and its headers report the quota. */
export const list = (headers: Headers = {}): ProbeRequest => get('/v1/models', headers);

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** A chunk of a body, and how many milliseconds after the request it arrived. */
interface Arrival {
  readonly at: number;
  readonly bytes: Uint8Array;
}

export interface Reply {
  readonly title: string;
  readonly status: number;
  readonly headers: globalThis.Headers;
  readonly text: string;
  /** By the doctor's clock, in milliseconds. */
  readonly sentAt: number;
  readonly arrivals: readonly Arrival[];
}

export type Probe = (request: ProbeRequest) => Promise<Reply>;

/** Milliseconds; reasoning may take long. */
const longest = 180_000;

/** Sends requests like any client, without retries. */
export function createProbe(base: string, now: () => number, patience = longest): Probe {
  return async ({ method, path, headers, body }) => {
    const sentAt = now();
    const title = `${method} ${path}${String(body).includes('"stream":true') ? ' (stream)' : ''}`;
    const signal = AbortSignal.timeout(patience);
    try {
      const response = await fetch(base + path, { method, headers, body: body ?? null, redirect: 'manual', signal });
      const arrivals: Arrival[] = [];
      for await (const bytes of response.body ?? []) arrivals.push({ at: now() - sentAt, bytes });
      const text = Buffer.concat(arrivals.map(({ bytes }) => bytes)).toString();
      return { title, status: response.status, headers: response.headers, text, sentAt, arrivals };
    } catch (error) {
      // The error that `fetch` throws has the real reason in its cause.
      const { message, code } = Object(Object(error).cause);
      const reason = signal.aborted ? `no answer within ${patience / 1000} s` : message || code || String(error);
      throw new CommandError(`${title} failed: ${reason}`);
    }
  };
}

/** Waits and retries if the burst limit was reached, as when this runs twice in a minute. Such a refusal is free. */
export function waitOutBurst(
  probe: Probe,
  wait: (milliseconds: number) => Promise<void>,
  tell: (text: string) => void,
): Probe {
  return async (request) => {
    const reply = await probe(request);
    if (reply.status !== 429 || reply.headers.get('x-should-retry') === 'false') return reply;
    const seconds = Number(reply.headers.get('retry-after'));
    if (!(seconds > 0 && seconds <= 60)) return reply;
    tell(`The burst limit is reached: going on in ${seconds} s.\n`);
    await wait(seconds * 1000);
    return probe(request);
  };
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

/** The start of a reply, on one line. */
export function quote({ status, text }: Reply): string {
  const line = text.slice(0, 200).replace(/\s+/g, ' ');
  return `${status} ${plainText(line)}`.trim();
}
