import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GatewayError } from '../errors.ts';
import type { GatewayResponse } from '../request/incoming-request.ts';
import { ConfigError } from '../settings/read-settings.ts';
import { targetOf } from './http-message.ts';
import { createRunning } from './running.ts';
import { faultIn, faultOf, refuseRequest, writeLast } from './unreadable.ts';

interface Options {
  readonly host: string;
  readonly port: number;
  /** Answers one request; never rejects. */
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly onError: (error: Error) => void;
  /** Renders the answer to what is no request. Without it Node answers in its own way. */
  readonly refuse?: (error: GatewayError, path?: string) => GatewayResponse;
  /** Everything else is Node's default, which refuses malformed and ambiguous requests. */
  readonly limits?: ServerOptions & { readonly maxConnections?: number };
}

/** How many requests of one connection are answered at a time; what a client pipelines beyond them waits. */
const mostAtOnce = 16;
/** On all connections together: one read may bring two thousand requests, and each takes some kilobytes of memory. */
const mostWaiting = 10_000;

/** Serves HTTP, and can be stopped step by step. */
export async function listen({ host, port, serve, onError, refuse, limits = {} }: Options) {
  const running = createRunning<Promise<void>>();
  let draining = false;
  const queues = createQueues();
  const server = createServer({ noDelay: true, requireHostHeader: !refuse, ...limits }, (request, response) => {
    queues.enter(response, () => {
      const fault = refuse && faultOf(request);
      const answering = fault
        ? refuseRequest(request, response, refuse(fault, targetOf(request).path))
        : serve(request, response);
      const remove = running.add(answering);
      return answering.finally(remove);
    });
    response.once('close', () => {
      // A connection that becomes idle now would hold the server open until its keep-alive ends.
      if (draining) setImmediate(() => server.closeIdleConnections());
    });
  });
  if (limits.maxConnections !== undefined) server.maxConnections = limits.maxConnections;
  // A client that has already gone has no address any more.
  server.prependListener('connection', (socket) => socket.remoteAddress ?? socket.destroy());
  server.on('connection', queues.open);
  // Node would refuse an expectation that it does not know, in words that no client reads. It may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', (...call) => server.emit('request', ...call));
  // Node would ask for every body, also for one that will be refused for its size.
  server.on('checkContinue', (...call) => server.emit('request', ...call));
  if (refuse) {
    const refused = new WeakSet<Duplex>();
    server.on('clientError', (error: NodeJS.ErrnoException, connection) => {
      // More errors come with what it still sends. What follows a request that said it was the last is nothing to answer.
      if (refused.has(connection) || error.code === 'HPE_CLOSED_CONNECTION') return;
      refused.add(connection);
      if (connection.writable && queues.hasTurn(connection)) writeLast(connection, refuse(faultIn(error)));
      else connection.destroy();
    });
  }
  server.listen(port, host);
  await once(server, 'listening').catch((error) => {
    throw new ConfigError([whyNot(error, host, port)]);
  });
  server.on('error', onError);
  const { port: boundPort } = server.address() as AddressInfo;

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`,
    port: boundPort,
    /** Accepts no new connections; open ones stay. The HTTP server's own `close` would close idle ones too. */
    refuseConnections: () => NetServer.prototype.close.call(server),
    /** The same, and closes every connection that is idle or becomes idle. Resolves when none is left. */
    drain(): Promise<void> {
      draining = true;
      return new Promise((resolve) => server.close(() => resolve()));
    },
    /** Ends every connection. */
    cut: () => server.closeAllConnections(),
    /** Resolves when all current requests are over, or after `timeLimit` milliseconds. */
    async settled(timeLimit: number): Promise<void> {
      const patience = Promise.withResolvers<void>();
      const timer = setTimeout(patience.resolve, timeLimit);
      await Promise.race([Promise.allSettled(running.list()), patience.promise]);
      clearTimeout(timer);
    },
  };
}

interface Queue {
  running: number;
  waiting: (() => Promise<void>)[];
  /** The response to the request that came last, while any is running. */
  last: ServerResponse | undefined;
}

/** Begins the requests of each connection in their order, `mostAtOnce` at a time. While some wait, nothing more is read. */
function createQueues() {
  const queues = new WeakMap<Duplex, Queue>();
  let waitingInAll = 0;

  /** Answers a request, and then those that wait. */
  const run = async (socket: Socket, queue: Queue, begin: () => Promise<void>): Promise<void> => {
    queue.running += 1;
    await begin();
    for (let next = queue.waiting.shift(); next; next = queue.waiting.shift()) {
      waitingInAll -= 1;
      if (queue.waiting.length === 0) socket.resume();
      // Or all that one read has brought might be answered before anybody else gets a turn.
      await nextTurn();
      if (queues.has(socket)) await next();
    }
    queue.running -= 1;
    if (queue.running === 0) queue.last = undefined;
  };

  return {
    open(socket: Socket): void {
      const queue: Queue = { running: 0, waiting: [], last: undefined };
      queues.set(socket, queue);
      // Node resumes a connection by itself, for example when its client has read the answers so far.
      socket.on('resume', () => {
        if (queue.waiting.length > 0) socket.pause();
      });
      socket.once('close', () => {
        queues.delete(socket);
        waitingInAll -= queue.waiting.length;
        queue.waiting = [];
      });
    },
    enter(response: ServerResponse, begin: () => Promise<void>): void {
      const { socket } = response.req;
      const queue = queues.get(socket);
      if (queue === undefined) return; // closed
      queue.last = response;
      if (queue.running < mostAtOnce) void run(socket, queue, begin);
      else if (waitingInAll === mostWaiting) socket.destroy();
      else {
        waitingInAll += 1;
        queue.waiting.push(begin);
        socket.pause();
      }
    },
    /** Whether what is written to a connection now would be read as the answer to what came last. */
    hasTurn(connection: Duplex): boolean {
      const { last, running = 0 } = queues.get(connection) ?? {};
      const mayAnswer = running === 1 && last?.req.complete === false && !last.headersSent;
      return last === undefined || last.writableFinished || mayAnswer;
    },
  };
}

function whyNot(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE') return `PORT ${port} is taken: set PORT to another one`;
  if (error.code === 'EACCES') return `PORT ${port} is not allowed to this user: set PORT to another one`;
  return `HOST ${host} is no address of this machine: ${error.message}`;
}

/** Lambda's limit, and the one assumed if the system names none. */
const fewest = 1_024;
/** For connections to tables and secrets, files and pipes. */
const reserved = 256;

/** How many connections clients may have, and as many go to upstreams, so that the process never runs out of descriptors. */
export function mostConnections(limit = descriptorLimit()): number {
  return Math.floor((limit - reserved) / 2);
}

/** The hard limit, to which Node raises its own. */
function descriptorLimit(): number {
  try {
    const [, most = ''] = /^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(most) || fewest;
  } catch {
    return fewest; // not Linux
  }
}
