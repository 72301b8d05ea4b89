import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { listenLocally } from '../listen-locally.ts';
import { type Exchange, play, type Script } from './script.ts';

/** One request of a client. */
export interface Incoming extends Exchange {
  readonly message: IncomingMessage;
  /** Whether the connection has carried a request before. */
  readonly reused: boolean;
  /** How it ended: answered whole, cut by the script, or aborted by the client. */
  readonly closed: Promise<'answered' | 'cut' | 'aborted'>;
}

/** An upstream on a port of its own, with real HTTP. What it answers is a script for each request. */
export async function startUpstream(answer: (incoming: Incoming) => Script | Promise<Script>) {
  const faults: unknown[] = [];
  const connections = new WeakMap<Socket, { readonly gone: Promise<void>; reused: boolean }>();

  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }, (message, response) => {
    serve(message, response).catch((fault) => {
      // An upload broken off by its sender is not a fault of the script.
      if (!message.complete) return;
      faults.push(fault);
      message.socket.destroy();
    });
  });
  // Nothing here keeps the process alive, so a hanging test fails by its time limit and the run still ends.
  server.unref();
  server.on('connection', (socket) => {
    socket.unref();
    connections.set(socket, { gone: closing(socket), reused: false });
    socket.on('error', () => {});
  });

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = message;
    const connection = connections.get(socket);
    if (!connection) throw new Error('a request without a connection');
    const { gone, reused } = connection;
    connection.reused = true;
    const incoming: Incoming = {
      message,
      response,
      socket,
      gone,
      reused,
      bytesWritten: 0,
      cut: false,
      closed: Promise.race([closing(response), gone]).then(() =>
        incoming.cut ? 'cut' : response.writableFinished ? 'answered' : 'aborted',
      ),
    };
    await play(await answer(incoming), incoming);
  }

  const { url, close } = await listenLocally(server);
  return {
    /** The base address, version prefix included. */
    url: `${url}/v1`,
    /** Closes every connection and fails if an answer could not be given. */
    async close(): Promise<void> {
      await close();
      if (faults.length > 0) throw new AggregateError(faults.splice(0), 'a script of the fake upstream failed');
    },
  };
}

/** Unlike `once` of node:events, does not reject on an error, which is how a reset shows. */
function closing(emitter: Socket | ServerResponse): Promise<void> {
  return new Promise((resolve) => emitter.once('close', () => resolve()));
}
