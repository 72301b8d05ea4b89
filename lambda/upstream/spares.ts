import type { Agent } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { KeepsConnections } from '../connections.ts';
import { UpstreamFailure } from './failure.ts';

/** In milliseconds, after which a connection that no request has taken is closed. */
const longestWait = 10_000;

interface Opening {
  /** Who may take one. The first one's own connections are used again and again. */
  readonly agents: readonly [Agent & KeepsConnections, ...Agent[]];
  readonly defaultPort: number;
  /** The event that says that a connection may be used. */
  readonly ready: string;
  readonly connectTimeout: number;
  readonly now: () => number;
}

/**
 * Connections that are opened before their request is ready: at most one to an origin, and none while the first agent has a free one.
 */
export function createSpares({ agents, defaultPort, ready, connectTimeout, now }: Opening) {
  const waiting = new Map<string, { readonly socket: Socket; readonly until: number }>();
  const taken = new WeakSet<Duplex>();
  const [reusing] = agents;
  const connect = reusing.createConnection.bind(reusing);

  function take(origin: string): Socket | undefined {
    const spare = waiting.get(origin);
    waiting.delete(origin);
    // Of a frozen function no timer has run.
    if (!spare || spare.until < now()) return undefined;
    taken.add(spare.socket);
    return spare.socket;
  }

  for (const agent of agents) {
    const connectAnew = agent.createConnection.bind(agent);
    agent.createConnection = (options, callback) =>
      take(`${options.host}:${options.port}`) ?? connectAnew(options, callback);
  }

  return {
    /** Whether a connection was one of these: like one that was used before, it may be dead. */
    includes: (socket: Duplex): boolean => taken.has(socket),
    open({ hostname, port }: URL): void {
      const host = hostname.replace(/^\[(.*)\]$/, '$1');
      const address = { host, port: Number(port) || defaultPort };
      const origin = `${host}:${address.port}`;
      if (reusing.hasIdle(address) || waiting.has(origin)) return;
      const where = { ...address, servername: isIP(host) ? '' : host };
      const socket = connect({ ...Reflect.get(reusing, 'options'), ...where }) as Socket;
      waiting.set(origin, { socket, until: now() + longestWait });
      const leave = () => {
        if (waiting.get(origin)?.socket === socket) waiting.delete(origin);
      };
      const connecting = setTimeout(() => socket.destroy(new UpstreamFailure('connect_timeout')), connectTimeout);
      const unused = setTimeout(() => {
        if (!taken.has(socket)) socket.destroy();
      }, longestWait);
      socket.once(ready, () => clearTimeout(connecting));
      // Whoever has taken it sees the error too.
      socket.on('error', leave);
      socket.once('close', () => {
        leave();
        clearTimeout(connecting);
        clearTimeout(unused);
      });
    },
  };
}
