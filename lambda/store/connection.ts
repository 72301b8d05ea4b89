import type { Socket } from 'node:net';
import { type HttpAnswer, readAnswer } from './read-answer.ts';

/** A connection to a service, for one request after the other. */
export interface Connection {
  /** Whether it has brought an answer before, but nothing of the next one: it may have been closed unnoticed. */
  readonly isStale: boolean;
  /** Sends a request and reads its answer. Rejects if the connection ends before that is whole. */
  ask(request: string): Promise<HttpAnswer>;
  /** Ends it; a request that waits for its answer fails with this reason. */
  cut(reason: Error): void;
}

/** Makes a connection of a socket. `onGone` is called when it has ended. */
export function createConnection(socket: Socket, onGone: (connection: Connection) => void): Connection {
  let waiting: PromiseWithResolvers<HttpAnswer> | undefined;
  let arrived: Buffer | undefined; // of the answer that is waited for
  let isUsed = false;

  const read = (isOver: boolean): void => {
    const found = arrived && readAnswer(arrived, isOver);
    if (!found) return;
    // Another request would wait behind the rest of this one, which may never be taken.
    const answer = { ...found, keepsConnection: found.keepsConnection && socket.writableLength === 0 };
    waiting?.resolve(answer);
    waiting = undefined;
    arrived = undefined;
    isUsed = true;
    // An idle connection doesn't keep the process alive.
    if (answer.keepsConnection) socket.unref();
    else socket.destroy();
  };
  const tryToRead = (isOver: boolean): void => {
    try {
      read(isOver);
    } catch (fault) {
      socket.destroy(fault as Error);
    }
  };

  const connection: Connection = {
    get isStale() {
      return isUsed && arrived === undefined;
    },
    ask(request) {
      waiting = Promise.withResolvers();
      socket.ref();
      socket.write(request);
      return waiting.promise;
    },
    cut: (reason) => socket.destroy(reason),
  };
  socket.on('data', (bytes: Buffer) => {
    if (!waiting) {
      // After something that nobody asked for, no answer could be trusted.
      onGone(connection);
      socket.destroy();
      return;
    }
    arrived = arrived ? Buffer.concat([arrived, bytes]) : bytes;
    tryToRead(false);
  });
  socket.on('end', () => tryToRead(true));
  socket.on('error', (error) => waiting?.reject(error));
  socket.on('close', () => {
    onGone(connection);
    waiting?.reject(new Error('the connection was closed before the end of an answer'));
  });
  return connection;
}
