import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { listenLocally } from '../listen-locally.ts';

/** A streaming function's answer: its prelude, then the body as it arrives. A failure midway errors the body. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly body: Readable;
}

interface Invocation {
  readonly event: unknown;
  readonly answer: PromiseWithResolvers<Answer>;
}

/**
 * Lambda's Runtime API: hands out invocations, one at a time, and reads the streamed responses.
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export async function startRuntimeApi(functionTimeout: number) {
  const waiting: Invocation[] = [];
  let running: Invocation | undefined;
  /** The runtime's pending request for its next invocation. */
  let idle: ServerResponse | undefined;
  let failure: Error | undefined;
  let count = 0;
  const ready = Promise.withResolvers<number>();

  function dispatch(): void {
    if (!idle) return;
    running = waiting.shift();
    if (!running) return;
    idle.writeHead(200, {
      'content-type': 'application/json',
      'lambda-runtime-aws-request-id': `invocation-${++count}`,
      'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:eu-central-1:123456789012:function:gateway',
      'lambda-runtime-deadline-ms': Date.now() + functionTimeout,
    });
    idle.end(JSON.stringify(running.event));
    idle = undefined;
  }

  /** Rejects all unanswered and all later invocations, because the runtime is gone. */
  function fail(reason: Error): void {
    failure ??= reason;
    for (const { answer } of [...waiting, ...(running ? [running] : [])]) answer.reject(reason);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.endsWith('/next')) {
      idle = response;
      ready.resolve(performance.now());
      return dispatch();
    }
    if (running) await readAnswer(request, running.answer);
    else fail(new Error(`the function did not start: ${await text(request)}`));
    running = undefined;
    response.writeHead(202).end();
  }

  // The runtime holds one connection open while its handler works, so there must be no idle timeout.
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  const { url, close } = await listenLocally(server);

  return {
    /** When the function had started, on the clock of `performance.now()`. */
    ready: ready.promise,
    /** For AWS_LAMBDA_RUNTIME_API. */
    address: url.slice('http://'.length),
    /** Resolves with the prelude; rejects when the function fails before it. */
    invoke(event: unknown): Promise<Answer> {
      if (failure) return Promise.reject(failure);
      const answer = Promise.withResolvers<Answer>();
      waiting.push({ event, answer });
      dispatch();
      return answer.promise;
    },
    fail,
    async close() {
      fail(new Error('the Runtime API was closed'));
      await close();
    },
  };
}

/** The prelude ends with eight NUL bytes, which no JSON text holds. */
const delimiter = Buffer.alloc(8);

/** Reads one response to its end, even if the client has disconnected: Lambda never tells the function. */
async function readAnswer(request: IncomingMessage, answer: PromiseWithResolvers<Answer>): Promise<void> {
  const body = new PassThrough();
  const closed = new Promise((resolve) => body.once('close', resolve));
  let prelude: Buffer | undefined = Buffer.alloc(0);
  body.on('error', () => {}); // the reader of the body gets it too
  try {
    for await (let chunk of request) {
      if (prelude) {
        prelude = Buffer.concat([prelude, chunk]);
        const end = prelude.indexOf(delimiter);
        if (end < 0) continue;
        answer.resolve({ ...JSON.parse(prelude.toString('utf8', 0, end)), body });
        chunk = prelude.subarray(end + delimiter.length);
        prelude = undefined;
      }
      if (chunk.length === 0 || body.destroyed || body.write(chunk)) continue;
      await Promise.race([once(body, 'drain'), closed]);
    }
    const fault = request.trailers['lambda-runtime-function-error-body'];
    if (fault) throw new Error(`the function failed: ${Buffer.from(fault, 'base64')}`);
    if (prelude) throw new Error('the function answered without a prelude');
    body.end();
  } catch (error) {
    const reason = error instanceof Error ? error : new Error(String(error));
    answer.reject(reason);
    body.destroy(reason);
  }
}
