import { type ClientRequestArgs, createServer as createNodeServer, Agent as NodeAgent, type Server } from 'node:http';
import { here } from './current.ts';

export * from 'node:http';

export class Agent extends NodeAgent {
  override createConnection(options: ClientRequestArgs) {
    return here().connect(options);
  }
}

/** Node's own server, to which the world brings the connections. */
export function createServer(...given: Parameters<typeof createNodeServer>): Server {
  const server = createNodeServer(...given);
  const address = { address: '127.0.0.1', family: 'IPv4', port: 8080 };
  return Object.assign(server, {
    listen() {
      here().listen(server);
      process.nextTick(() => {
        server.emit('listening');
        stopLooking(server);
      });
      return server;
    },
    address: () => address,
  });
}

/** Node looks for requests that don't end every few seconds of real time. */
function stopLooking(server: Server): void {
  for (const name of Object.getOwnPropertySymbols(server)) {
    if (name.description?.includes('connectionsCheckingInterval')) clearInterval(Reflect.get(server, name));
  }
}
