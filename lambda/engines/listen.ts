import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { ConfigError } from '../settings/read-settings.ts';

/** Answers one request; never rejects. */
export type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Accepts no new connections; open ones stay. */
  refuseConnections(): void;
  /** The same, and closes every connection that is idle or becomes idle. Resolves when none is left. */
  drain(): Promise<void>;
  /** Ends every connection. */
  cut(): void;
  /** Resolves when all current requests are over, or after `timeLimit` milliseconds. */
  settled(timeLimit: number): Promise<void>;
}

interface Options {
  readonly host: string;
  readonly port: number;
  readonly serve: Serve;
  readonly onError: (error: Error) => void;
  /** Everything else is Node's default, which refuses malformed and ambiguous requests. */
  readonly limits?: ServerOptions & { readonly maxConnections?: number };
}

/** Serves HTTP, and can be stopped step by step. */
export async function listen({ host, port, serve, onError, limits = {} }: Options): Promise<Listening> {
  const running = new Set<Promise<void>>();
  let draining = false;
  const server = createServer({ noDelay: true, ...limits }, (request, response) => {
    const run = serve(request, response).finally(() => {
      running.delete(run);
    });
    running.add(run);
    response.once('close', () => {
      // A connection that becomes idle now would hold the server open until its keep-alive ends.
      if (draining) setImmediate(() => server.closeIdleConnections());
    });
  });
  if (limits.maxConnections !== undefined) server.maxConnections = limits.maxConnections;
  // A client that has already gone has no address any more.
  server.prependListener('connection', (socket) => socket.remoteAddress ?? socket.destroy());
  // Node would refuse an expectation that it does not know, in words that no client reads. It may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', (...call) => server.emit('request', ...call));
  server.listen(port, host);
  await once(server, 'listening').catch((error) => {
    throw new ConfigError([whyNot(error, host, port)]);
  });
  server.on('error', onError);
  const { port: boundPort } = server.address() as AddressInfo;

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`,
    port: boundPort,
    // The HTTP server's own `close` would close idle connections too.
    refuseConnections: () => NetServer.prototype.close.call(server),
    drain() {
      draining = true;
      return new Promise((resolve) => server.close(() => resolve()));
    },
    cut: () => server.closeAllConnections(),
    async settled(timeLimit) {
      const patience = Promise.withResolvers<void>();
      const timer = setTimeout(patience.resolve, timeLimit);
      await Promise.race([Promise.allSettled(running), patience.promise]);
      clearTimeout(timer);
    },
  };
}

function whyNot(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE') return `PORT ${port} is taken: set PORT to another one`;
  if (error.code === 'EACCES') return `PORT ${port} is not allowed to this user: set PORT to another one`;
  return `HOST ${host} is no address of this machine: ${error.message}`;
}
