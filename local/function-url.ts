import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Invocation, invokeFunction } from './invoke-function.ts';

export interface FunctionUrl {
  readonly url: string;
  readonly port: number;
  /** Takes no more requests, lets the running ones end for so long, then cuts them. */
  close(graceMs: number): Promise<void>;
}

interface FunctionUrlOptions extends Partial<Invocation> {
  readonly handler: Invocation['handler'];
  readonly host: string;
  readonly port: number;
}

/** How long a handler whose client was cut off may take for its last word to the tables. */
const afterCutMs = 2_000;

/**
 * Serves a streaming Lambda function over HTTP as its Function URL would. Unlike on AWS, where the limit on the encoded
 * event can come first with an answer of its own, the function itself sees every body that is too large.
 */
export async function startFunctionUrl({
  handler,
  host,
  port,
  functionTimeout = 900_000,
  bodyLimit = 6_291_456,
  onFailure = console.error,
}: FunctionUrlOptions): Promise<FunctionUrl> {
  const running = new Set<Promise<void>>();
  let closing = false;
  // Node's own rules stand: malformed and ambiguous requests are refused, headers must arrive within 60 s, the whole
  // request within 300 s, and a response may take as long as it likes.
  const server = createServer({ noDelay: true, keepAliveTimeout: 65_000 }, (request, response) => {
    const run = invokeFunction(request, response, { handler, functionTimeout, bodyLimit, onFailure }).finally(() => {
      running.delete(run);
    });
    running.add(run);
    response.once('close', () => {
      // A connection that falls idle now would hold the server open until its keep-alive ends.
      if (closing) setImmediate(() => server.closeIdleConnections());
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  server.on('error', onFailure);
  const { port: boundPort } = server.address() as AddressInfo;

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`,
    port: boundPort,
    async close(graceMs) {
      closing = true;
      const closed = new Promise((resolve) => server.close(resolve));
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(cut);
      const patience = Promise.withResolvers<void>();
      const timer = setTimeout(patience.resolve, afterCutMs);
      await Promise.race([Promise.allSettled(running), patience.promise]);
      clearTimeout(timer);
    },
  };
}
