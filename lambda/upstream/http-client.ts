import { type ClientRequest, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { urlToHttpOptions } from 'node:url';
import { smallBody, writeBody } from '../http/bodies.ts';
import { createSpares, hasIdle, PlainAgent, SecureAgent } from '../http/connections.ts';
import { decode } from '../http/decode-answer.ts';
import { UpstreamFailure } from './failure.ts';
import type { HttpRequest } from './upstream-request.ts';

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body, decoded. */
  readonly body: Readable;
}

/**
 * Sends a request; resolves with the head of the response. Aborting the signal cuts the connection at any time. Passing `releaseBody` says
 * that the body is not needed again; it is called once a large body is fully written.
 */
export type SendRequest = (
  request: HttpRequest,
  signal: AbortSignal,
  releaseBody?: () => void,
) => Promise<UpstreamAnswer>;

interface Connecting {
  readonly connectTimeout: number;
  /** The most connections at once, half of them for large bodies; further requests queue. */
  readonly sockets?: number | undefined;
  readonly now: () => number;
}

interface HttpClient {
  readonly send: SendRequest;
  /** Opens a connection for a request that will follow soon. */
  preconnect(url: string): void;
}

/** The one place that opens connections to upstreams. Keeps them alive and reuses them. */
export function createHttpClient({ connectTimeout, sockets, now }: Connecting): HttpClient {
  const half = sockets === undefined ? {} : { maxTotalSockets: Math.ceil(sockets / 2) };
  const kept = { keepAlive: true, maxFreeSockets: 64, ...half };
  const http = openScheme(PlainAgent, false);
  const https = openScheme(SecureAgent, true);
  const places = new Map<string, ReturnType<typeof placeOf>>();

  /** Parses each URL once: there are few, all from settings. */
  function readPlace(url: string) {
    const place = places.get(url) ?? placeOf(url);
    places.set(url, place);
    return place;
  }

  function placeOf(url: string) {
    const parsed = new URL(url);
    const { hostname, port, path } = urlToHttpOptions(parsed);
    const scheme = parsed.protocol === 'https:' ? https : http;
    const address = { host: hostname ?? '', port: Number(port ?? scheme.defaultPort) };
    return { scheme, host: parsed.host, target: { hostname, port, path }, address };
  }

  function openScheme(Agent: typeof PlainAgent | typeof SecureAgent, isSecure: boolean) {
    const timeoutError = () => new UpstreamFailure('connect_timeout');
    const spares = createSpares({ isSecure, connectTimeout, timeoutError, now });
    return {
      spares,
      used: new Agent(kept, spares),
      unused: new Agent(half, spares),
      send: isSecure ? httpsRequest : httpRequest,
      defaultPort: isSecure ? 443 : 80,
      ready: isSecure ? 'secureConnect' : 'connect',
    };
  }

  const attempt = (
    request: HttpRequest,
    signal: AbortSignal,
    fresh: boolean,
    releaseBody?: () => void,
  ): Promise<UpstreamAnswer> => {
    const { url, headers, pieces } = request;
    const { scheme, host, target } = readPlace(url);
    const { send, used, unused, ready, spares } = scheme;
    // A flat list, which Node writes as it is; headers given as an object cost it an entry each.
    const list = ['host', host, ...Object.entries(headers).flat()];
    const outgoing = send({ ...target, method: 'POST', headers: list, agent: fresh ? unused : used });
    if (releaseBody) outgoing.once('finish', releaseBody);
    const mayBeDead = () => outgoing.reusedSocket || (outgoing.socket !== null && spares.includes(outgoing.socket));
    const again = () => attempt(request, signal, true);
    const answer = answerTo(outgoing, signal, fresh ? undefined : { mayBeDead, again });
    limitConnecting(outgoing, ready, connectTimeout);
    writeBody(outgoing, pieces);
    return answer;
  };

  return {
    send(request, signal, releaseBody) {
      const isLarge = Number(request.headers['content-length']) > smallBody;
      // A reused connection may turn out to be dead, and a retry would need the body.
      return releaseBody && isLarge ? attempt(request, signal, true, releaseBody) : attempt(request, signal, false);
    },
    preconnect(url) {
      const { scheme, address } = readPlace(url);
      if (!hasIdle(scheme.used, address)) scheme.spares.open(address);
    },
  };
}

/** Fails a request whose connection takes too long. */
function limitConnecting(outgoing: ClientRequest, ready: string, connectTimeout: number): void {
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => outgoing.destroy(new UpstreamFailure('connect_timeout')), connectTimeout);
    socket.once(ready, () => clearTimeout(timer));
    outgoing.once('close', () => clearTimeout(timer));
  });
}

/** Sends a request again whose reused connection was dead. */
interface Retry {
  readonly mayBeDead: () => boolean;
  readonly again: () => Promise<UpstreamAnswer>;
}

/**
 * Waits for the head of the response. The connection retains these listeners as long as the response lasts. So they must let go of
 * `retryIfDead`, which retains the body.
 */
function answerTo(
  outgoing: ClientRequest,
  signal: AbortSignal,
  retryIfDead: Retry | undefined,
): Promise<UpstreamAnswer> {
  let retry = retryIfDead;
  let answered = false;
  let resolved = false;
  const { promise, resolve, reject } = Promise.withResolvers<UpstreamAnswer>();
  // Node's own `signal` option also watches for the end of the request, which costs more than all of this.
  const giveUp = () => outgoing.destroy();
  signal.addEventListener('abort', giveUp);
  outgoing.once('socket', (socket) => {
    // Ahead of the HTTP parser, which reports malformed bytes immediately.
    socket.prependOnceListener('data', () => {
      answered = true;
    });
  });
  outgoing.once('response', (answer) => {
    const { statusCode: status = 0, headers } = answer;
    // A reset is reported on the request and on the response. The reader of the body sees it there.
    answer.on('error', () => {});
    // An upstream that answers before it has read the whole request may never read the rest.
    answer.once('close', () => {
      if (!outgoing.writableFinished) outgoing.destroy();
    });
    resolved = true;
    retry = undefined;
    // The gateway asks for none, but some servers encode anyway.
    const encoding = headers['content-encoding'];
    resolve({ status, headers, body: encoding === undefined ? answer : decode(answer, encoding) });
  });
  outgoing.on('error', (error) => {
    // A frozen environment wakes up with sockets that the upstream has since closed: retry these. But once a byte of a
    // response has arrived, the upstream has begun to work and must not be asked again.
    if (retry?.mayBeDead() && !answered && !signal.aborted) retry.again().then(resolve, reject);
    else reject(error instanceof UpstreamFailure ? error : new UpstreamFailure('unreachable', { cause: error }));
  });
  outgoing.once('close', () => {
    signal.removeEventListener('abort', giveUp);
    // Some responses, such as a protocol switch, close the connection without an error.
    if (answered && !resolved) reject(new UpstreamFailure('unreachable'));
  });
  return promise;
}

/** In milliseconds. */
const discardTimeout = 1_000;

/** Discards a body that is not needed. If it ends in time, its connection is reused; otherwise it is cut. */
export function discard(body: Readable): void {
  const timer = setTimeout(() => body.destroy(), discardTimeout);
  body.once('close', () => clearTimeout(timer));
  body.on('error', () => {});
  body.resume();
}
