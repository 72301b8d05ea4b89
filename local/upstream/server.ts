import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { listenLocally } from '../listen-locally.ts';
import { type Exchange, play, type Script } from './script.ts';

/** One request of a client. */
export interface Incoming extends Exchange {
  readonly message: IncomingMessage;
  /** Whether the connection has carried a request before. */
  readonly reused: boolean;
  /** How it ended: answered completely, cut by the script, or aborted by the client. */
  readonly closed: Promise<'answered' | 'cut' | 'aborted'>;
}

/** An upstream on its own port, with real HTTP. Each request is answered by a script. */
export async function startUpstream(answer: (incoming: Incoming) => Script | Promise<Script>) {
  const faults: unknown[] = [];
  const connections = new WeakMap<Socket, { readonly gone: Promise<void>; reused: boolean }>();

  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }, (message, response) => {
    serve(message, response).catch((fault) => {
      // An upload that its sender aborted is not the script's fault.
      if (!message.complete) return;
      faults.push(fault);
      message.socket.destroy();
    });
  });
  // The server doesn't keep the process alive, so a hanging test times out and the run still ends.
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
    /** The base URL, including the version prefix. */
    url: `${url}/v1`,
    /** Closes every connection and fails if an answer could not be given. */
    async close(): Promise<void> {
      await close();
      if (faults.length > 0) throw new AggregateError(faults.splice(0), 'a script of the fake upstream failed');
    },
  };
}

/** Unlike `once` of node:events, does not reject on an error, as a reset would cause. */
function closing(emitter: Socket | ServerResponse): Promise<void> {
  return new Promise((resolve) => emitter.once('close', () => resolve()));
}
