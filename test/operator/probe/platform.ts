import { createServer, request as send } from 'node:http';
import { listenLocally } from '../../../local/listen-locally.ts';

/** How a platform in front of a server may behave. The defaults are what AWS documents. */
export interface Manners {
  /** Whether the caller's address comes after what the client sent, before it, or not at all. */
  readonly address?: 'last' | 'first' | 'none';
  /** In bytes; the platform itself refuses larger bodies. */
  readonly bodyLimit?: number;
  /** In milliseconds without a byte of an answer. */
  readonly silenceLimit?: number;
  /** Whether the server does not learn that a client has left. */
  readonly keepsLeaversSecret?: true;
  /** After this many requests it refuses all others. */
  readonly throttleAfter?: number;
}

export interface Platform extends AsyncDisposable {
  readonly url: string;
  /** The requests that the server got. */
  readonly seen: string[];
}

/** A platform that passes requests on to a server. */
export async function startPlatform(server: string, manners: Manners = {}): Promise<Platform> {
  const { address = 'last', bodyLimit, silenceLimit, throttleAfter = Number.POSITIVE_INFINITY } = manners;
  const seen: string[] = [];
  const platform = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.on('error', () => {});
    if (seen.length > throttleAfter) {
      request.resume();
      response.writeHead(429, { 'content-type': 'application/json', 'x-amzn-errortype': 'TooManyRequests' });
      response.end('{"message":"Rate exceeded"}');
      return;
    }
    if (bodyLimit !== undefined && Number(request.headers['content-length']) > bodyLimit) {
      request.resume().once('end', () => response.writeHead(413).end('Request Entity Too Large'));
      return;
    }
    const { host: _, connection: __, ...headers } = request.headers;
    const said = request.headersDistinct['x-forwarded-for'] ?? [];
    const own = request.socket.remoteAddress ?? '';
    const values = { last: [...said, own], first: [own, ...said], none: said }[address];
    const onward = send(new URL(request.url ?? '/', server), {
      method: request.method ?? 'GET',
      agent: false,
      headers: { ...headers, ...(values.length > 0 && { 'x-forwarded-for': values.join(', ') }) },
    });
    if (silenceLimit !== undefined) onward.setTimeout(silenceLimit, () => response.destroy());
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
      if (manners.keepsLeaversSecret) response.on('close', () => answer.resume());
    });
    onward.on('error', () => response.destroy());
    if (!manners.keepsLeaversSecret) response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  const { url, close } = await listenLocally(platform);
  return { url, seen, [Symbol.asyncDispose]: close };
}
