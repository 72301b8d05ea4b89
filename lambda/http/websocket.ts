import type { Call } from './call.ts';

/**
 * Whether a request asks for a WebSocket. Platforms strip `Upgrade`, so this looks for the rest of the handshake, or for the beta
 * that agents name with it.
 */
export function isWebSocketHandshake({ method, headers }: Pick<Call, 'method' | 'headers'>, beta: RegExp): boolean {
  if (method !== 'GET') return false;
  return headers['sec-websocket-key'] !== undefined || beta.test(headers['openai-beta'] ?? '');
}
