import { type HttpServerOptions, startHttpServer } from '../../lambda/engines/http-server.ts';
import type { App } from '../../lambda/request/call.ts';
import { createFunction, startFunctionUrl } from '../../local/function-url.ts';
import { installAwslambda } from '../../local/response-stream.ts';

/** What serves the app in a test: the Function URL's stand-in, or the HTTP server. */
export type TestEngine = 'function-url' | 'web';

export type ServerOptions = Partial<
  Pick<HttpServerOptions, 'arrivalTime' | 'bodyBudget' | 'clientAddress' | 'onLastMoment'>
>;

interface Options {
  /** By default the engine of this test run, which jest.config.mjs sets for some tests. */
  readonly engine: TestEngine | undefined;
  readonly server: ServerOptions | undefined;
  readonly bodyLimit: number;
  readonly timeLimit: number | undefined;
  readonly onFault: (fault: unknown) => void;
}

/** Serves an app on a free port. */
export async function startTestEngine(app: App, options: Options) {
  const { engine = Reflect.get(globalThis, 'testEngine') ?? 'function-url', bodyLimit, timeLimit, onFault } = options;
  const address = { host: '127.0.0.1', port: 0 };
  if (engine === 'web') {
    const server = await startHttpServer({
      ...{ ...address, app, onFault, clientAddress: 'socket', requestBodyLimit: bodyLimit, bodyBudget: 268_435_456 },
      ...(timeLimit !== undefined && { timeLimit }),
      ...options.server,
    });
    return { url: server.url, close: server.stop };
  }
  installAwslambda();
  const server = await startFunctionUrl({
    ...{ ...address, handler: createFunction(app), bodyLimit, onFailure: onFault },
    ...(timeLimit !== undefined && { functionTimeout: timeLimit }),
  });
  return { url: server.url, close: server.close };
}
