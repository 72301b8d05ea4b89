import { type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { CommandError } from '../command-error.ts';

export interface Ask {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  /** A list of values goes out as as many lines. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Buffer;
  /** In milliseconds; then it is given up. */
  readonly patience?: number;
  /** Called with each piece of the answer; `leave` ends the connection there and then. */
  readonly onData?: (leave: () => void) => void;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Whether the answer came to its end. */
  readonly complete: boolean;
}

export type AskOnce = (ask: Ask) => Promise<Reply>;

const usualPatience = 60_000;

/** Asks once, on a connection of its own, with nothing added to what is said here. */
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
    // Who refuses a body may close before it has been sent: an answer that came is one none the less.
    request.on('error', (error) => {
      if (!answered) reject(new CommandError(`${method} ${path} failed: ${error.message || error.name}`));
    });
    request.end(body);
    return promise.finally(() => clearTimeout(timer));
  };
}

/** What the artifact says; a platform may say something else in its place. */
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
