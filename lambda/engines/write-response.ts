import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { GatewayResponse } from '../http/gateway-request.ts';
import { writeBody } from '../http/write-body.ts';

/** How long to keep reading from a client that still sends: if the connection closed at once, the answer could be lost. */
const lingerTime = 1_000;

/** Writes a whole response, no faster than the client reads it. */
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
