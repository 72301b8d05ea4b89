import { types } from 'node:util';
import { CommandError } from '../command-line.ts';

export interface Ask {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'OPTIONS';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes or JSON text as they are, or a value to send as JSON. */
  readonly body?: string | Uint8Array<ArrayBuffer> | object;
}

/** Some bytes of a body, and how many milliseconds after the request was sent they came. */
export interface Arrival {
  readonly at: number;
  readonly bytes: Uint8Array;
}

export interface Reply {
  readonly ask: Ask;
  /** Names the request, for people. */
  readonly title: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly arrivals: readonly Arrival[];
  /** Milliseconds until the last byte. */
  readonly duration: number;
}

export type Probe = (ask: Ask) => Promise<Reply>;

interface Options {
  readonly base: string;
  readonly now: () => number;
  /** Milliseconds after which a reply is given up. */
  readonly patience: number;
}

/** Sends a request as any client would, and records when each part of the answer came. Never asks twice. */
export function createProbe({ base, now, patience }: Options): Probe {
  return async (ask) => {
    const { method, path, headers, body } = ask;
    const sentAt = now();
    const title = titleOf(ask);
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
      return { ask, title, status, headers: response.headers, text, arrivals, duration: now() - sentAt };
    } catch (error) {
      const reason = signal.aborted ? `no answer within ${patience / 1000} s` : reasonOf(error);
      throw new CommandError(`${title} failed: ${reason}`);
    }
  };
}

function bodyOf(body: Ask['body']): string | Uint8Array<ArrayBuffer> | null {
  if (body === undefined) return null;
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
}

function titleOf({ method, path, body }: Ask): string {
  const streams = typeof body === 'object' && 'stream' in body;
  return `${method} ${path}${streams ? ' (stream)' : ''}`;
}

/** The JSON value of a text; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
