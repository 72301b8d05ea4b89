import { fitsHeader } from '../settings/header-value.ts';
import { type Connection, createConnection } from './connection.ts';
import { createOpenSocket } from './open-socket.ts';
import type { HttpAnswer } from './read-answer.ts';
import { ServiceError } from './service-error.ts';

/** Sends a body over a kept connection and reads the whole answer. Rejects if no answer comes, or only a part of one. */
export type Post = (
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal | undefined,
) => Promise<HttpAnswer>;

/**
 * Sends to one address, without Node's HTTP client: that one can do far more than these calls need, and takes 62 µs for each
 * instead of 18. There are as many connections as there have been calls at once, which time-limit.ts bounds for each table.
 */
export function createPost(address: URL): Post {
  const openSocket = createOpenSocket(address);
  const idle: Connection[] = [];
  const forget = (connection: Connection): void => {
    const place = idle.indexOf(connection);
    if (place >= 0) idle.splice(place, 1);
  };
  const firstLines = `POST ${address.pathname} HTTP/1.1\r\nhost: ${address.host}\r\n`;

  return async (headers, body, signal) => {
    signal?.throwIfAborted();
    const request = `${firstLines}${linesOf(headers)}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    const connection = idle.pop() ?? createConnection(openSocket(), forget);
    const giveUp = () => connection.cut(signal?.reason);
    signal?.addEventListener('abort', giveUp);
    try {
      const answer = await connection.ask(request);
      if (answer.keepsConnection) idle.push(connection);
      return answer;
    } catch (thrown) {
      const cause = thrown as Error;
      throw new ServiceError('NoAnswer', cause.message, { cause, onKeptConnection: connection.isStale });
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  };
}

function linesOf(headers: Readonly<Record<string, string>>): string {
  let lines = '';
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (!fitsHeader(value)) throw new TypeError(`The header ${name} holds characters that a header can't carry`);
    if (name !== 'host') lines += `${name}: ${value}\r\n`;
  }
  return lines;
}
