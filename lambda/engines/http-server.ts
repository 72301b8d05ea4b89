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
  /** In bytes: for one body, and for everything that `Memory` holds. */
  readonly requestBodyLimit: number;
  readonly bodyBudget: number;
  /** How many connections may be open at once. */
  readonly maxConnections?: number;
  /** How long one request may take in all, in milliseconds. */
  readonly timeLimit?: number;
  /** Called shortly before the process ends: calls that answers still wait for should be given up. */
  readonly onLastMoment?: () => void;
  /** Renders the answer to what is no call of the app, in the shape of its path if it has one. */
  readonly refuse: (error: GatewayError, path?: string) => GatewayResponse;
  /** Receives errors from outside the app, which the client does not see. */
  readonly onFault: (error: unknown) => void;
}

export interface HttpServer {
  readonly url: string;
  readonly port: number;
  /** Accepts no new connections, allows running answers this long to end, then cuts them short, each with an error. */
  stop(graceMs: number): Promise<void>;
}

/** The longest that a function may run. After that, even a client that has stopped reading is disconnected. */
const usualTimeLimit = 900_000;
/** How long answers that were cut short have to end and be logged, after their refunds are given up. */
const lastMoment = 100;

const limits = {
  // Node's default, written down. Agents send a hundredth of it.
  maxHeaderSize: 16_384,
  // A head is a packet or two. A client that takes longer occupies a connection that others could use.
  headersTimeout: 20_000,
  // A last resort: the limits for the head and the body add up to less.
  requestTimeout: 90_000,
  connectionsCheckingInterval: 5_000,
  // Longer than a balancer keeps an idle connection (60 s is usual), or it would send a request into a closing one.
  keepAliveTimeout: 75_000,
} as const;

/** As many lines of a head as Node keeps. Some of its versions refuse one that has more, others leave out the last lines. */
const mostHeaders = 1_000;

/** Serves an app over HTTP, many requests at once. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port, maxConnections, onFault, refuse } = options;
  const server: ServerState = {
    budget: createBodyBudget(options.bodyBudget),
    countTurns: createCountTurns(),
    shutdownSignal: createShutdownSignals(),
    health: 'serving',
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
    async stop(graceMs) {
      server.health = 'stopping';
      listening.refuseConnections();
      const lastCall = performance.now() + graceMs + lastWordTime;
      await listening.settled(graceMs);
      server.shutdownSignal.all();
      void listening.drain();
      // On a busy machine the steps before may have run late. That must not delay this one.
      await listening.settled(Math.max(0, lastCall - performance.now()));
      options.onLastMoment?.();
      await listening.settled(lastMoment);
      listening.cut();
    },
  };
}

/** What the requests of one server share. */
interface ServerState {
  readonly budget: ReturnType<typeof createBodyBudget>;
  readonly countTurns: ReturnType<typeof createCountTurns>;
  readonly shutdownSignal: ReturnType<typeof createShutdownSignals>;
  health: 'serving' | 'stopping';
}

/** Answers one request. */
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
  const memory = server.budget.open();
  const countTurn = server.countTurns.open(clientGone.signal, cut.signal);
  const body = createIncomingBody(request, {
    limit: options.requestBodyLimit,
    memory,
    shutdownSignal: cut.signal,
    ask: askForBody(request, response),
  });
  const deadline = performance.now() + timeLimit;
  const call: IncomingRequest = {
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
    const answer = await app(call).catch((fault) => {
      onFault(fault);
      return lastResort();
    });
    // The rest of a refused request may come for another minute, and its answer may wait behind others.
    if (answer.statusCode >= 400) memory.leave();
    // An answer that comes before the end of the request may never be read, or not be passed on.
    const isWhole = await body.over();
    const keepConnection = isWhole && server.health === 'serving';
    const writing = clientGone.signal.aborted
      ? over(answer.body)
      : writeResponse(request, response, answer, keepConnection);
    await writing.finally(() => answer.settled);
  } catch (fault) {
    if (!clientGone.signal.aborted && !response.destroyed) onFault(fault);
    response.destroy();
  } finally {
    clearTimeout(timer);
    cut.over();
    countTurn.over();
    memory.leave();
  }
}

/** What the head of a request says. */
function headOf(request: IncomingMessage, clientAddress: HttpServerOptions['clientAddress']) {
  const headers = headersOf(request);
  const { method = 'GET', socket } = request;
  const sourceAddress = clientAddress === 'socket' ? (socket.remoteAddress ?? '') : addressIn(headers, request);
  return { method, path: targetOf(request).path, headers, host: headers.host ?? '', sourceAddress };
}

/** Only the last value of the header was written by the balancer in front. The client may have invented all others. */
function addressIn(headers: IncomingRequest['headers'], request: IncomingMessage): string {
  // Node dropped some lines, and the balancer's may be among them.
  if (request.rawHeaders.length >= 2 * mostHeaders) return '';
  return headers['x-forwarded-for']?.split(',').at(-1)?.trim() ?? '';
}
