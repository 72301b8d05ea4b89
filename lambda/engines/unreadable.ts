import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { GatewayError } from '../errors.ts';
import type { GatewayResponse } from '../request/incoming-request.ts';
import { lingerTime, writeResponse } from './http-message.ts';
import { discardBody } from './join-reads.ts';

const faults: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The path and headers of a request may have 16 KiB together. Send fewer or shorter ones.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time. Please try again.'],
};
const notHttp = [
  400,
  'The request is not HTTP/1.1 that the gateway understands. Send it with an HTTP client.',
] as const;

/** The error for bytes that Node could not parse as a request. */
export function faultIn({ code = '' }: NodeJS.ErrnoException): GatewayError {
  const [status, message] = faults[code] ?? notHttp;
  return new GatewayError('invalid_request', message, { status });
}

/** Writes a response to a bare socket and closes it soon. Closing at once could reset the connection and lose the response. */
export function writeLast(connection: Duplex, { statusCode, headers, body }: GatewayResponse): void {
  const all = { ...headers, 'content-length': Buffer.byteLength(String(body)), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  connection.end(`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${lines.join('')}\r\n${body}`);
  const timer = setTimeout(() => connection.destroy(), lingerTime);
  connection.once('close', () => clearTimeout(timer));
}

/** The error for a request that Node can parse, but would refuse with an error of its own, or accept although it should not. */
export function faultOf({ headers, rawHeaders, httpVersion }: IncomingMessage): GatewayError | undefined {
  if (headers.host === undefined) return httpVersion === '1.1' ? badHost('no Host header') : undefined;
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host');
  return hosts.length > 1 ? badHost('more than one Host header') : undefined;
}

const badHost = (has: string) =>
  new GatewayError('invalid_request', `The request has ${has}. Send it with an HTTP client.`);

/** Refuses a request and closes its connection soon, whatever else the client sends. */
export async function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: GatewayResponse,
): Promise<void> {
  response.on('error', () => {});
  discardBody(request);
  await writeResponse(request, response, refusal, false);
}
