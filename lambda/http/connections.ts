import { type AgentOptions, type ClientRequest, type ClientRequestArgs, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions as HttpsAgentOptions, type RequestOptions } from 'node:https';
import { isIP, connect as netConnect, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * An agent for http whose idle connections, kept alive or preconnected, are closed if the server sends anything unasked. So no stray bytes
 * become the response to a later request.
 */
export class PlainAgent extends HttpAgent {
  readonly #spares: Spares | undefined;

  constructor(options: AgentOptions, spares?: Spares) {
    super(options);
    this.#spares = spares;
  }

  override createConnection(...call: Parameters<HttpAgent['createConnection']>) {
    return this.#spares?.take(call[0]) ?? super.createConnection(...call);
  }

  override keepSocketAlive(socket: Socket): boolean {
    watch(socket.unref());
    return true;
  }

  override reuseSocket(socket: Socket, request: ClientRequest): void {
    super.reuseSocket(unwatch(socket), request);
  }
}

/** The same for https. */
export class SecureAgent extends HttpsAgent {
  readonly #spares: Spares | undefined;

  constructor(options: HttpsAgentOptions, spares?: Spares) {
    super(options);
    this.#spares = spares;
  }

  override createConnection(...call: Parameters<HttpsAgent['createConnection']>) {
    return this.#spares?.take(call[0]) ?? super.createConnection(...call);
  }

  override keepSocketAlive(socket: Socket): boolean {
    watch(socket.unref());
    return true;
  }

  override reuseSocket(socket: Socket, request: ClientRequest): void {
    super.reuseSocket(unwatch(socket), request);
  }
}

/** Whether the agent has an idle connection to this address. */
export function hasIdle(agent: HttpAgent, address: Address): boolean {
  return agent.freeSockets[agent.getName(address)]?.some(({ destroyed }) => !destroyed) ?? false;
}

/** Closes an idle connection if anything arrives on it, or the server ends it. */
const watch = (socket: Socket): Socket => socket.on('data', close).on('end', close);

const unwatch = (socket: Socket): Socket => socket.off('data', close).off('end', close);

function close(this: Socket): void {
  this.destroy();
}

/** In milliseconds, after which a preconnected socket that no request has taken is closed. */
const longestWait = 10_000;

interface Opening {
  readonly isSecure: boolean;
  readonly connectTimeout: number;
  /** The error for a connection that takes longer. */
  readonly timeoutError: () => Error;
  readonly now: () => number;
}

export type Spares = ReturnType<typeof createSpares>;

/** Preconnected sockets: opened before their request is ready, at most one per address. */
export function createSpares({ isSecure, connectTimeout, timeoutError, now }: Opening) {
  const waiting = new Map<string, { readonly socket: Socket; readonly until: number }>();
  const taken = new WeakSet<object>();

  /** With the same options as an agent with `keepAlive`. */
  function connect({ host, port }: Address): Socket {
    const address = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 1_000 };
    return isSecure ? tlsConnect({ ...address, servername: isIP(host) ? '' : host }) : netConnect(address);
  }

  return {
    /** Whether a socket was preconnected: like a reused one, it may be dead. */
    includes: (socket: object): boolean => taken.has(socket),

    take({ host, port }: ClientRequestArgs | RequestOptions): Socket | undefined {
      const origin = `${host}:${port}`;
      const spare = waiting.get(origin);
      waiting.delete(origin);
      // While a function was frozen, no timer ran.
      if (!spare || spare.until < now() || spare.socket.destroyed) return undefined;
      taken.add(spare.socket);
      return unwatch(spare.socket);
    },

    open(address: Address): void {
      const origin = `${address.host}:${address.port}`;
      if (waiting.has(origin)) return;
      const socket = watch(connect(address));
      waiting.set(origin, { socket, until: now() + longestWait });
      const connecting = setTimeout(() => socket.destroy(timeoutError()), connectTimeout);
      const unused = setTimeout(() => {
        if (!taken.has(socket)) socket.destroy();
      }, longestWait);
      socket.once(isSecure ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
      // A request that has taken it sees the error itself.
      socket.on('error', () => {});
      socket.once('close', () => {
        if (waiting.get(origin)?.socket === socket) waiting.delete(origin);
        clearTimeout(connecting);
        clearTimeout(unused);
      });
    },
  };
}
