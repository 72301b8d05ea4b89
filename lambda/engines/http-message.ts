import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { writeBody } from '../http/bodies.ts';
import type { GatewayResponse } from '../request/incoming-request.ts';

/** The path of a request, and its query without the question mark. The path stays percent-encoded, as with Function URLs (API Gateway decodes it). */
export function targetOf({ url = '/' }: IncomingMessage) {
  // A proxy's request names the whole URL; `OPTIONS *` names no path.
  const local = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '');
  const mark = local.indexOf('?');
  const path = mark < 0 ? local : local.slice(0, mark);
  return { path: path.startsWith('/') ? path : '/', query: mark < 0 ? '' : local.slice(mark + 1) };
}

/** The headers by lower-case name, the values of a repeated one joined by commas; without cookies. */
export function headersOf(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  const { rawHeaders } = request;
  // Names and values by turns. Node's own two ways to read them lose some values, or make a list of each.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at]?.toLowerCase(), rawHeaders[at + 1]];
    if (name !== 'cookie') headers[name] = Object.hasOwn(headers, name) ? `${headers[name]},${value}` : value;
  }
  return headers;
}

/** Asks a client for its body; undefined if it does not wait for that (`Expect: 100-continue`). Of HTTP/1.0 it is to be ignored. */
export function askForBody(request: IncomingMessage, response: ServerResponse): (() => void) | undefined {
  const { headers, httpVersion } = request;
  const waits = httpVersion !== '1.0' && /100-continue/i.test(headers.expect ?? '');
  return waits ? () => response.writeContinue() : undefined;
}

/** Calls back when the connection is lost before the response has been sent. */
export function watchClient(request: IncomingMessage, response: ServerResponse, onGone: () => void): void {
  const { socket } = request;
  // A client that pipelines may have many requests waiting on one connection.
  socket.setMaxListeners(0);
  socket.once('close', onGone);
  response.once('close', () => socket.off('close', onGone));
  response.on('error', () => {});
}

/** How long to keep reading from a client that still sends: if the connection closed at once, the answer could be lost. */
export const lingerTime = 1_000;

/** Writes a whole response, no faster than the client reads it. Waits until the body has closed, also if its client has left. */
export async function writeResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { statusCode, headers, body }: GatewayResponse,
  keepConnection: boolean,
): Promise<void> {
  const head = { ...headers, ...(!keepConnection && { connection: 'close' }) };
  if (typeof body !== 'string') {
    response.writeHead(statusCode, head);
    await pipeline(body, response);
    return;
  }
  const bodyless = request.method === 'HEAD' || statusCode === 204 || statusCode === 304;
  response.writeHead(statusCode, { ...head, ...(!bodyless && { 'content-length': Buffer.byteLength(body) }) });
  if (request.complete) writeBody(response, [body]);
  else {
    response.write(body);
    await closed(request, lingerTime);
    response.end();
  }
  if (!response.closed) await new Promise((resolve) => response.once('close', resolve));
}

async function closed(request: IncomingMessage, timeLimit: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  request.once('end', resolve).once('close', resolve);
  const timer = setTimeout(resolve, timeLimit);
  await promise;
  clearTimeout(timer);
}
