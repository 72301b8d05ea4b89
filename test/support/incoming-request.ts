import type { Body, IncomingRequest } from '../../lambda/request/incoming-request.ts';
import { unlimitedMemory } from '../../lambda/request/memory.ts';

/** A request without a platform; by default a GET without a body. */
export function incomingRequest({
  body = '',
  ...given
}: Partial<IncomingRequest> & { readonly body?: Body } = {}): IncomingRequest {
  return {
    method: 'GET',
    path: '/',
    headers: {},
    host: 'gateway.example',
    sourceAddress: '203.0.113.9',
    bodySize: () => Buffer.byteLength(body),
    dropBody: () => Buffer.byteLength(body),
    takeBody: async () => body,
    timeLeft: () => 900_000,
    memory: unlimitedMemory,
    clientGone: undefined,
    shutdownSignal: undefined,
    ...given,
  };
}
