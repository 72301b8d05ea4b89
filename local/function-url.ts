import { listen } from '../lambda/engines/listen.ts';
import { type Invocation, invokeFunction } from './invoke-function.ts';

export interface FunctionUrl {
  readonly url: string;
  readonly port: number;
  /** Accepts no more requests, allows the running ones this long to end, then cuts them. */
  close(graceMs: number): Promise<void>;
}

interface FunctionUrlOptions extends Partial<Invocation> {
  readonly handler: Invocation['handler'];
  readonly host: string;
  readonly port: number;
}

/** How long a handler may take for its last write to the tables after its client was cut off. */
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
  // Node's defaults apply: malformed and ambiguous requests are refused, headers must arrive within 60 s, the whole request
  // within 300 s, and a response may take any time.
  const listening = await listen({
    ...{ host, port, onError: onFailure, limits: { keepAliveTimeout: 65_000 } },
    serve: (request, response) => invokeFunction(request, response, { handler, functionTimeout, bodyLimit, onFailure }),
  });

  return {
    url: listening.url,
    port: listening.port,
    async close(graceMs) {
      const cut = setTimeout(listening.cut, graceMs);
      await listening.drain();
      clearTimeout(cut);
      await listening.settled(afterCutMs);
    },
  };
}
