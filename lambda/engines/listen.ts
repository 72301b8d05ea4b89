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
  /** The setting that has chosen the port, if it is not PORT. */
  readonly portSetting?: string;
  /** Answers one request; never rejects. */
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly onError: (error: Error) => void;
  /** Renders the response to malformed HTTP. Without it, Node sends its own. */
  readonly refuse?: (error: GatewayError, path?: string) => GatewayResponse;
  /** Anything else keeps Node's default, which refuses malformed and ambiguous requests. */
  readonly limits?: ServerOptions & { readonly maxConnections?: number };
}

/** Concurrent requests per connection; pipelined requests beyond these wait. */
const mostAtOnce = 16;
/** Waiting requests on all connections together: one read may bring two thousand, and each takes a few kilobytes of memory. */
const mostWaiting = 10_000;

/** Serves HTTP, and can be shut down step by step. */
export async function listen(options: Options) {
  const { host, port, portSetting = 'PORT', serve, onError, refuse, limits = {} } = options;
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
      // A connection that becomes idle now would keep the server open until its keep-alive timeout.
      if (draining) setImmediate(() => server.closeIdleConnections());
    });
  });
  if (limits.maxConnections !== undefined) server.maxConnections = limits.maxConnections;
  // A client that has already disconnected has no address.
  server.prependListener('connection', (socket) => socket.remoteAddress ?? socket.destroy());
  server.on('connection', queues.open);
  // Node would refuse an unknown expectation with an empty 417. Ignoring it is allowed (RFC 9110, 10.1.1).
  server.on('checkExpectation', (...args) => server.emit('request', ...args));
  // Node would send `100 Continue` for every body, even one that will be refused for its size.
  server.on('checkContinue', (...args) => server.emit('request', ...args));
  if (refuse) {
    const refused = new WeakSet<Duplex>();
    server.on('clientError', (error: NodeJS.ErrnoException, connection) => {
      // Further errors come from what the client still sends. Data after a `Connection: close` request needs no response.
      if (refused.has(connection) || error.code === 'HPE_CLOSED_CONNECTION') return;
      refused.add(connection);
      if (connection.writable && queues.hasTurn(connection)) writeLast(connection, refuse(faultIn(error)));
      else connection.destroy();
    });
  }
  server.listen(port, host);
  await once(server, 'listening').catch((error) => {
    throw new ConfigError([explainListenError(error, host, port, portSetting)]);
  });
  server.on('error', onError);
  const { port: boundPort } = server.address() as AddressInfo;

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`,
    port: boundPort,
    /** Accepts no new connections, but keeps open ones. The HTTP server's own `close` would also close idle connections. */
    refuseConnections: () => NetServer.prototype.close.call(server),
    /** The same, and closes connections as they become idle. Resolves when none is left. */
    drain(): Promise<void> {
      draining = true;
      return new Promise((resolve) => server.close(() => resolve()));
    },
    /** Closes every connection. */
    cut: () => server.closeAllConnections(),
    /** Resolves when all current requests have ended, or after `timeLimit` milliseconds. */
    async settled(timeLimit: number): Promise<void> {
      const timeout = Promise.withResolvers<void>();
      const timer = setTimeout(timeout.resolve, timeLimit);
      await Promise.race([Promise.allSettled(running.list()), timeout.promise]);
      clearTimeout(timer);
    },
  };
}

interface Queue {
  running: number;
  waiting: (() => Promise<void>)[];
  /** The response to the latest request, while any is running. */
  last: ServerResponse | undefined;
}

/** Starts the requests of each connection in order, `mostAtOnce` at a time. While any are waiting, the socket is paused. */
function createQueues() {
  const queues = new WeakMap<Duplex, Queue>();
  let waitingInAll = 0;

  /** Answers a request, then the waiting ones. */
  const run = async (socket: Socket, queue: Queue, begin: () => Promise<void>): Promise<void> => {
    queue.running += 1;
    await begin();
    for (let next = queue.waiting.shift(); next; next = queue.waiting.shift()) {
      waitingInAll -= 1;
      if (queue.waiting.length === 0) socket.resume();
      // Otherwise all requests of one read might be answered before any other connection gets a turn.
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
      // Node resumes a socket by itself, for example once the client has read all responses so far.
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
    /** Whether the client would read what is written now as the response to its latest request. */
    hasTurn(connection: Duplex): boolean {
      const { last, running = 0 } = queues.get(connection) ?? {};
      const mayAnswer = running === 1 && last?.req.complete === false && !last.headersSent;
      return last === undefined || last.writableFinished || mayAnswer;
    },
  };
}

function explainListenError(error: NodeJS.ErrnoException, host: string, port: number, setting: string): string {
  if (error.code === 'EADDRINUSE') return `${setting} ${port} is taken: set ${setting} to another one`;
  if (error.code === 'EACCES') return `${setting} ${port} is not allowed to this user: set ${setting} to another one`;
  return `HOST ${host} is not an address of this machine: ${error.message}`;
}

/** Lambda's limit, and the default if the system reports none. */
const fewest = 1_024;
/** File descriptors for connections to AWS, files and pipes. */
const reserved = 256;

/** The most client connections. Upstreams get as many, so that the process never runs out of file descriptors. */
export function mostConnections(limit = descriptorLimit()): number {
  return Math.floor((limit - reserved) / 2);
}

/** The hard limit: Node raises the soft limit to it. */
function descriptorLimit(): number {
  try {
    const [, most = ''] = /^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(most) || fewest;
  } catch {
    return fewest; // not Linux
  }
}
