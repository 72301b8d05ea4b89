import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayError } from '../errors.ts';
import { over } from '../http/bodies.ts';
import { type App, type GatewayResponse, type IncomingRequest, lastResort } from '../request/incoming-request.ts';
import { createCountTurns } from './count-turns.ts';
import { askForBody, headersOf, targetOf, watchClient, writeResponse } from './http-message.ts';
import { createIncomingBody } from './incoming-body.ts';
import { listen } from './listen.ts';
import { createBodyBudget } from './memory-budget.ts';
import { createShutdownSignals, lastWordTime } from './running.ts';

export interface HttpServerOptions {
  readonly app: App;
  readonly host: string;
  readonly port: number;
  readonly clientAddress: 'socket' | 'x-forwarded-for';
  /** In bytes: for one body; and for all bodies and responses together. */
  readonly requestBodyLimit: number;
  readonly bodyBudget: number;
  /** The most open connections. */
  readonly maxConnections?: number;
  /** The time limit of a request as a whole, in milliseconds. */
  readonly timeLimit?: number;
  /** Called shortly before the process ends, to abort store calls that responses still wait for. */
  readonly onLastMoment?: () => void;
  /** Renders an error for a request that never reaches the app, in the format of its path if it has one. */
  readonly refuse: (error: GatewayError, path?: string) => GatewayResponse;
  /** Called with errors outside the app, which clients don't see. */
  readonly onFault: (error: unknown) => void;
}

export interface HttpServer {
  readonly url: string;
  readonly port: number;
  /**
   * Stops accepting connections, gives running requests `graceMs` to finish, then ends the rest with an error. For `drainMs` before
   * that, everything is served but `/healthz` answers 503, so that load balancers send nothing more.
   */
  stop(graceMs: number, drainMs?: number): Promise<void>;
  /** The current load, such as the bytes of bodies and whole answers in memory. */
  state(): { readonly requests: number; readonly streams: number; readonly held: number; readonly budget: number };
}

/** Lambda's longest timeout. After that, even a client that has stopped reading is disconnected. */
const usualTimeLimit = 900_000;
/** Milliseconds for aborted requests to end and be logged, once their refunds have been given up. */
const lastMoment = 100;

const limits = {
  // Node's default, made explicit. Agents send a hundredth of that.
  maxHeaderSize: 16_384,
  // Headers fit in a packet or two. A client that takes longer occupies a connection that others could use.
  headersTimeout: 20_000,
  // A fallback: the limits for headers and body add up to less.
  requestTimeout: 90_000,
  connectionsCheckingInterval: 5_000,
  // Longer than the idle timeout of load balancers (usually 60 s), which might otherwise send a request into a closing connection.
  keepAliveTimeout: 75_000,
} as const;

/** Node's limit. With more header lines, some versions of Node refuse the request, and others drop the last lines. */
const mostHeaders = 1_000;

/** Serves an app over HTTP, many requests at once. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port, maxConnections, onFault, refuse } = options;
  const server: ServerState = {
    budget: createBodyBudget(options.bodyBudget),
    countTurns: createCountTurns(),
    shutdownSignal: createShutdownSignals(),
    health: 'serving',
    requests: 0,
    streams: 0,
  };
  const listening = await listen({
    host,
    port,
    onError: onFault,
    refuse,
    serve: (request, response) => serve(request, response, options, server),
    limits: { ...limits, ...(maxConnections !== undefined && { maxConnections }) },
  });

  return {
    url: listening.url,
    port: listening.port,
    state: () => {
      const { requests, streams } = server;
      return { requests, streams, held: server.budget.held(), budget: options.bodyBudget };
    },
    async stop(graceMs, drainMs = 0) {
      server.health = 'draining';
      if (drainMs > 0) await new Promise((resolve) => setTimeout(resolve, drainMs));
      server.health = 'stopping';
      listening.refuseConnections();
      const lastMomentAt = performance.now() + graceMs + lastWordTime;
      await listening.settled(graceMs);
      server.shutdownSignal.all();
      void listening.drain();
      // On a busy machine, earlier steps may have run late. That must not delay this one.
      await listening.settled(Math.max(0, lastMomentAt - performance.now()));
      options.onLastMoment?.();
      await listening.settled(lastMoment);
      listening.cut();
    },
  };
}

/** What all requests of a server share. */
interface ServerState {
  readonly budget: ReturnType<typeof createBodyBudget>;
  readonly countTurns: ReturnType<typeof createCountTurns>;
  readonly shutdownSignal: ReturnType<typeof createShutdownSignals>;
  health: NonNullable<IncomingRequest['health']>;
  requests: number;
  streams: number;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  options: HttpServerOptions,
  server: ServerState,
): Promise<void> {
  const { app, onFault, timeLimit = usualTimeLimit } = options;
  const clientGone = new AbortController();
  const cut = server.shutdownSignal.open();
  watchClient(request, response, () => clientGone.abort());
  const timer = setTimeout(() => response.destroy(), timeLimit).unref();
  let isStream = false;
  server.requests += 1;
  const memory = server.budget.open();
  const countTurn = server.countTurns.open(clientGone.signal, cut.signal);
  const body = createIncomingBody(request, {
    limit: options.requestBodyLimit,
    memory,
    shutdownSignal: cut.signal,
    ask: askForBody(request, response),
  });
  const deadline = performance.now() + timeLimit;
  const incoming: IncomingRequest = {
    ...headOf(request, options.clientAddress),
    bodySize: body.receive,
    dropBody: body.drop,
    takeBody: body.take,
    memory,
    waitToCount: countTurn.wait,
    timeLeft: () => deadline - performance.now(),
    clientGone: clientGone.signal,
    shutdownSignal: cut.signal,
    health: server.health,
  };
  try {
    const answer = await app(incoming).catch((fault) => {
      onFault(fault);
      return lastResort();
    });
    // The client may keep sending a refused request for another minute, and its response may queue behind others.
    if (answer.statusCode >= 400) memory.leave();
    // Wait for the whole request: clients may not read an early response, and proxies may not pass it through.
    const isWhole = await body.over();
    const keepConnection = isWhole && server.health !== 'stopping';
    isStream = answer.headers['content-type']?.startsWith('text/event-stream') ?? false;
    if (isStream) server.streams += 1;
    const writing = clientGone.signal.aborted
      ? over(answer.body)
      : writeResponse(request, response, answer, keepConnection);
    await writing.finally(() => answer.settled);
  } catch (fault) {
    if (!clientGone.signal.aborted && !response.destroyed) onFault(fault);
    response.destroy();
  } finally {
    clearTimeout(timer);
    server.requests -= 1;
    if (isStream) server.streams -= 1;
    cut.over();
    countTurn.over();
    memory.leave();
  }
}

/** What the request line and the headers say. */
function headOf(request: IncomingMessage, clientAddress: HttpServerOptions['clientAddress']) {
  const headers = headersOf(request);
  const { method = 'GET', socket } = request;
  const sourceAddress = clientAddress === 'socket' ? (socket.remoteAddress ?? '') : addressIn(headers, request);
  return { method, path: targetOf(request).path, headers, host: headers.host ?? '', sourceAddress };
}

/** Only the last value of `x-forwarded-for` comes from the load balancer. The client may have made up the others. */
function addressIn(headers: IncomingRequest['headers'], request: IncomingMessage): string {
  // Node may have dropped lines, including the load balancer's.
  if (request.rawHeaders.length >= 2 * mostHeaders) return '';
  return headers['x-forwarded-for']?.split(',').at(-1)?.trim() ?? '';
}
