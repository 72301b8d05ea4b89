import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { inTime } from '../../support/wait-until.ts';

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
