import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type HttpServerOptions, startHttpServer } from '../../../lambda/engines/http-server.ts';
import { inTime } from '../../support/wait-until.ts';

export const mebibyte = 1_048_576;

/** An app behind the real HTTP server, which records errors outside the app. */
export async function serveApp(app: HttpServerOptions['app'], options: Partial<HttpServerOptions> = {}) {
  const faults: unknown[] = [];
  const server = await startHttpServer({
    ...{ app, host: '127.0.0.1', port: 0, clientAddress: 'socket', requestBodyLimit: mebibyte },
    ...{ bodyBudget: 8 * mebibyte, onFault: (fault) => faults.push(fault) },
    refuse: ({ status, message }) => ({ statusCode: status, headers: { 'x-a': 'b' }, body: `<${message}>` }),
    ...options,
  });
  return { ...server, faults, [Symbol.asyncDispose]: () => server.stop(0) };
}

export const end = '\r\n';
/** The head of a POST, but for its end. */
export const post = (length: number | string, path = '/') =>
  `POST ${path} HTTP/1.1\r\nhost: gateway.example\r\ncontent-length: ${length}\r\n`;

/** A connection on which a test sends any bytes, and sees what comes back. */
export interface RawClient {
  readonly socket: Socket;
  send(bytes: string): void;
  /** All that has come so far, once it matches. */
  until(pattern: RegExp): Promise<string>;
  /** All, once the server has closed. */
  rest(): Promise<string>;
}

export async function openRaw(url: string): Promise<RawClient> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
  await once(socket, 'connect');
  let text = '';
  socket.setEncoding('utf8').on('data', (piece) => {
    text += piece;
  });
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    async until(pattern) {
      while (!pattern.test(text)) {
        if (socket.destroyed) throw new Error(`closed without ${pattern}: ${text}`);
        await inTime(Promise.race([once(socket, 'data'), closed]), `the server has sent ${pattern}`);
      }
      return text;
    },
    async rest() {
      await inTime(closed, 'the server has closed the connection');
      return text;
    },
  };
}
