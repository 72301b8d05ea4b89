import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type FunctionUrl, type Invocation, startFunctionUrl } from '../../local/function-url.ts';
import { inTime } from '../support/wait-until.ts';

/** Runs a test against a handler on a free port, and stops the server afterwards. */
export async function withServer(
  handler: Invocation['handler'],
  test: (server: FunctionUrl) => Promise<void>,
  options: Partial<Invocation> = {},
): Promise<void> {
  const server = await startFunctionUrl({ handler, host: '127.0.0.1', port: 0, ...options });
  try {
    await test(server);
  } finally {
    await server.close(0);
  }
}

/** A connection on which the given bytes have been sent. */
export async function open(server: FunctionUrl, bytes: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: server.port });
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

/** Sends bytes as they are and collects everything that comes until the server closes. */
export async function exchange(server: FunctionUrl, bytes: string): Promise<string> {
  return inTime(text(await open(server, bytes)), 'the server has closed the connection');
}
