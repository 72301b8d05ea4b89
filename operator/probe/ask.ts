import { type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { CommandError } from '../command-error.ts';

export interface Ask {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  /** A list is sent as one line per value. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Buffer;
  /** Milliseconds until it gives up. */
  readonly patience?: number;
  /** Called for each piece of the answer; `leave` ends the connection at once. */
  readonly onData?: (leave: () => void) => void;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Whether the answer arrived whole. */
  readonly complete: boolean;
}

export type AskOnce = (ask: Ask) => Promise<Reply>;

const usualPatience = 60_000;

/** Sends one request on its own connection, with no headers but the given ones. */
export function createAsk(base: string): AskOnce {
  return ({ method = 'GET', path, headers = {}, body, patience = usualPatience, onData }) => {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const url = new URL(base + path);
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const lines = Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : [...value],
    ]);
    const request = send(url, {
      method,
      agent: false,
      headers: { ...Object.fromEntries(lines), ...(body && { 'content-length': body.length }) },
    });
    const timer = setTimeout(() => request.destroy(new Error(`no answer within ${patience / 1000} s`)), patience);
    let answered = false;
    request.on('response', (response) => {
      answered = true;
      const chunks: Buffer[] = [];
      const settle = () => {
        const { statusCode: status = 0, headers: given, complete } = response;
        resolve({ status, headers: given, text: Buffer.concat(chunks).toString(), complete });
      };
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        onData?.(() => request.destroy());
      });
      response.on('error', () => {});
      response.on('close', settle);
    });
    // A server that refuses a body may close before all of it is sent. If it has answered, that answer counts.
    request.on('error', (error) => {
      if (!answered) reject(new CommandError(`${method} ${path} failed: ${error.message || error.name}`));
    });
    request.end(body);
    return promise.finally(() => clearTimeout(timer));
  };
}

/** Reads the artifact's answer, and fails if the platform answered instead. */
export async function askArtifact<T>(ask: AskOnce, one: Ask): Promise<T> {
  const { status, text } = await ask(one);
  try {
    if (status === 200) return JSON.parse(text);
  } catch {
    // as below
  }
  const said = text.slice(0, 100).replace(/\s+/g, ' ');
  throw new CommandError(`${one.path} is not answered by dist/probe: ${status} ${said}`.trim());
}
