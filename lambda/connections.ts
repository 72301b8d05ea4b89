import type { Agent, ClientRequest } from 'node:http';
import type { Socket } from 'node:net';

interface Address {
  readonly host?: string;
  readonly port?: number | string;
}

type AddRequest = (request: ClientRequest, address: Address) => void;

export interface KeepsConnections {
  /** Whether a request to this address would find a connection. */
  readonly hasIdle: (address: Address) => boolean;
}

/**
 * Has an agent keep the connections to each address in a list. By itself it would name the address by all of its options, several
 * times a request, and look for hints in the answer's headers: a fifth of a call's time.
 */
export function keepInLists<A extends Agent>(agent: A): A & KeepsConnections {
  const lists = new Map<string, Socket[]>();
  const watched = new WeakSet<Socket>();
  const connect: AddRequest = Reflect.get<Agent, string>(agent, 'addRequest').bind(agent);
  const [handOn] = agent.listeners('free');

  /** Those to an address that no request has at the moment; the last one can be used. */
  const idleAt = ({ host, port }: Address): Socket[] => {
    const name = `${host}:${port}`;
    const idle = lists.get(name) ?? [];
    lists.set(name, idle);
    while (idle.at(-1)?.writable === false) idle.pop();
    return idle;
  };

  const addRequest: AddRequest = (request, address) => {
    const idle = idleAt(address);
    const socket = idle.pop();
    if (!socket) {
      connect(request, address);
      return;
    }
    request.reusedSocket = true;
    request.onSocket(socket.off('data', cut).ref());
  };

  // Emitted with each connection whose answer has ended and that may be used again, or whose request was given up before it began.
  agent.removeAllListeners('free').on('free', (socket: Socket, address: Address) => {
    const idle = idleAt(address);
    if (Object.keys(agent.requests).length > 0) {
      // There may be no more connections, and somebody waits for one.
      handOn?.call(agent, socket, address);
    } else if (idle.length < agent.maxFreeSockets) {
      if (!watched.has(socket)) watch(socket, idle);
      watched.add(socket);
      idle.push(socket.on('data', cut).unref());
    } else socket.destroy();
  });
  return Object.assign(agent, { addRequest, hasIdle: (address: Address) => idleAt(address).length > 0 });
}

function watch(socket: Socket, idle: Socket[]): void {
  // A request that has the connection sees the error too.
  socket.on('error', () => {});
  socket.once('close', () => {
    const at = idle.indexOf(socket);
    if (at >= 0) idle.splice(at, 1);
  });
}

/** What nobody has asked for must not become the next request's answer. */
function cut(this: Socket): void {
  this.destroy();
}
