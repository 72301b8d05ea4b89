import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { writeBody } from '../http/bodies.ts';
import type { GatewayResponse } from '../request/incoming-request.ts';

/** The path and the query, without the question mark. The path stays percent-encoded, as with Function URLs (API Gateway decodes it). */
export function targetOf({ url = '/' }: IncomingMessage) {
  // A request to a proxy has an absolute URL; `OPTIONS *` has no path.
  const local = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '');
  const mark = local.indexOf('?');
  const path = mark < 0 ? local : local.slice(0, mark);
  return { path: path.startsWith('/') ? path : '/', query: mark < 0 ? '' : local.slice(mark + 1) };
}

/** The headers by lower-case name, without cookies. The values of a repeated header are joined by commas. */
export function headersOf(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  const { rawHeaders } = request;
  // A flat list of names and values. Node's own `headers` drops some duplicates, and `headersDistinct` makes a list for each.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at]?.toLowerCase(), rawHeaders[at + 1]];
    if (name !== 'cookie') headers[name] = Object.hasOwn(headers, name) ? `${headers[name]},${value}` : value;
  }
  return headers;
}

/** Sends `100 Continue`; undefined if the client does not wait for it. HTTP/1.0 must ignore the expectation. */
export function askForBody(request: IncomingMessage, response: ServerResponse): (() => void) | undefined {
  const { headers, httpVersion } = request;
  const waits = httpVersion !== '1.0' && /100-continue/i.test(headers.expect ?? '');
  return waits ? () => response.writeContinue() : undefined;
}

/** Calls back if the client disconnects before the response has been sent. */
export function watchClient(request: IncomingMessage, response: ServerResponse, onGone: () => void): void {
  const { socket } = request;
  // Pipelined requests share a socket, and each adds a listener.
  socket.setMaxListeners(0);
  socket.once('close', onGone);
  response.once('close', () => socket.off('close', onGone));
  response.on('error', () => {});
}

/** Milliseconds to keep reading from a client that is still sending. Closing at once could reset the connection and lose the response. */
export const lingerTime = 1_000;

/** Writes a response with back-pressure. Resolves when the body has closed, even if the client has left. */
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
