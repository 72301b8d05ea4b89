import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type Exchange, flood, head, json, play, type Script } from './upstream-script.ts';
import { inTime } from './wait-until.ts';

export interface RecordedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, exactly as they came. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The connection, numbered from 1. */
  readonly connection: number;
  /** Whether the connection has carried a request before. */
  readonly reused: boolean;
  /** Bytes of the answer's body that the connection has taken so far. */
  readonly bytesWritten: number;
  /** How it ended: answered whole, cut by the script, or aborted by the client. */
  readonly closed: Promise<'answered' | 'cut' | 'aborted'>;
}

/** A script, or a function that chooses one for a request. */
export type Answer = Script | ((request: RecordedRequest) => Script | Promise<Script>);

export interface FakeUpstream extends AsyncDisposable {
  /** The base address, version prefix included. */
  readonly url: string;
  /** All requests, in the order in which their bodies arrived. */
  readonly requests: readonly RecordedRequest[];
  /** Waits for the request of this index. */
  arrival(index: number): Promise<RecordedRequest>;
  /** Queues answers, each for one request. */
  answer(...answers: Answer[]): void;
  /** The answer whenever the queue is empty. */
  otherwise(answer: Answer): void;
  /** Closes every connection and fails if a script threw. */
  close(): Promise<void>;
}

interface Connection {
  readonly number: number;
  readonly gone: Promise<void>;
  requests: number;
}

/** A scripted upstream: a real HTTP server on a free port. */
export async function startFakeUpstream(): Promise<FakeUpstream> {
  const queue: Answer[] = [];
  const requests: RecordedRequest[] = [];
  const faults: unknown[] = [];
  const connections = new WeakMap<Socket, Connection>();
  let connectionCount = 0;
  let fallback: Answer = json(500, { error: { message: 'the test scripted no answer for this request' } });

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
    connections.set(socket, { number: ++connectionCount, requests: 0, gone: closing(socket) });
    socket.on('error', () => {});
  });

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = message;
    const connection = connections.get(socket);
    if (!connection) throw new Error('a request without a connection');
    const { gone } = connection;
    const reused = connection.requests++ > 0;
    const exchange: Exchange = { response, socket, gone, bytesWritten: 0, cut: false };
    const closed = Promise.race([closing(response), gone]).then(() =>
      exchange.cut ? 'cut' : response.writableFinished ? 'answered' : 'aborted',
    );
    const request: RecordedRequest = {
      method: message.method ?? '',
      path: message.url ?? '',
      headers: message.headers,
      rawHeaders: message.rawHeaders,
      body: await buffer(message),
      connection: connection.number,
      reused,
      get bytesWritten() {
        return exchange.bytesWritten;
      },
      get closed() {
        const over = inTime(closed, 'a request upstream is over');
        over.catch(() => {});
        return over;
      },
    };
    requests.push(request);
    const answer = queue.shift() ?? fallback;
    server.emit('recorded');
    await play(typeof answer === 'function' ? await answer(request) : answer, exchange);
  }

  async function close(): Promise<void> {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
    if (faults.length > 0) throw new AggregateError(faults.splice(0), 'a script of the fake upstream failed');
  }

  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    async arrival(index) {
      for (;;) {
        const request = requests[index];
        if (request) return request;
        await inTime(once(server, 'recorded'), `request ${index + 1} is upstream`);
      }
    },
    answer: (...answers) => {
      queue.push(...answers);
    },
    otherwise: (answer) => {
      fallback = answer;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

const eagerSize = 32 * 1024 * 1024;

/**
 * How much of an answer its connection takes before it stands still. It counts as still when it takes nothing while
 * another reader takes a whole answer, in a thousand pieces, through the same event loop.
 */
export async function bytesOnceStill({ url, answer }: FakeUpstream, request: RecordedRequest): Promise<number> {
  for (let before = -1; ; ) {
    const now = request.bytesWritten;
    if (now === before) return now;
    before = now;
    answer([head(200), flood(eagerSize)]);
    await (await fetch(url)).arrayBuffer();
  }
}

/** A base address that refuses every connection. (A port that was just free might belong to another server by now.) */
export const refusingUrl = 'http://127.0.0.1:1/v1';

/** Unlike `once` of node:events, does not reject on an error, which is how a reset shows. */
function closing(emitter: Socket | ServerResponse): Promise<void> {
  return new Promise((resolve) => emitter.once('close', () => resolve()));
}

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
