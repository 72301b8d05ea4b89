import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { Context, LambdaFunctionURLEvent } from 'aws-lambda';
import { createHandler } from '../lambda/engines/function-url.ts';
import { askForBody, headersOf, targetOf, watchClient } from '../lambda/engines/http-message.ts';
import { listen } from '../lambda/engines/listen.ts';
import { createShutdownSignals, lastWordTime } from '../lambda/engines/running.ts';
import type { GatewayError } from '../lambda/errors.ts';
import type { App, GatewayResponse } from '../lambda/request/incoming-request.ts';
import { createResponseStream } from './response-stream.ts';

/** What the gateway reads of a function's context, with signals that Lambda lacks: that the client has left, that the process stops. */
type LocalContext = Pick<Context, 'getRemainingTimeInMillis'> &
  Readonly<Record<'clientGone' | 'shutdownSignal', AbortSignal>>;

export type StreamingHandler = (
  event: LambdaFunctionURLEvent,
  responseStream: Writable,
  context: LocalContext,
) => Promise<unknown>;

export interface Invocation {
  readonly handler: StreamingHandler;
  /** Milliseconds after which the function is given up. */
  readonly functionTimeout: number;
  /** The gateway's own limit in bytes. One byte more is passed on, so that the gateway itself refuses the body. */
  readonly bodyLimit: number;
  /** Receives errors that the handler threw; the client sees nothing of them. */
  readonly onFailure: (error: unknown) => void;
}

interface Listening {
  readonly handler: StreamingHandler;
  readonly host: string;
  readonly port: number;
  /** Renders the answer to what is no request, which AWS answers in a way of its own. */
  readonly refuse?: (error: GatewayError, path?: string) => GatewayResponse;
}

export type FunctionUrl = Awaited<ReturnType<typeof startFunctionUrl>>;

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
  refuse,
}: Partial<Invocation> & Listening) {
  const shutdownSignal = createShutdownSignals();
  // Node's defaults apply: malformed and ambiguous requests are refused, headers must arrive within 60 s, the whole request
  // within 300 s, and a response may take any time.
  const listening = await listen({
    host,
    port,
    onError: onFailure,
    limits: { keepAliveTimeout: 65_000 },
    ...(refuse && { refuse }),
    async serve(request, response) {
      const cut = shutdownSignal.open();
      const invocation = { handler, functionTimeout, bodyLimit, onFailure, shutdownSignal: cut.signal };
      await invokeFunction(request, response, invocation).finally(cut.over);
    },
  });

  return {
    url: listening.url,
    port: listening.port,
    /** Accepts no more requests, allows the running ones this long to end, then cuts them short, each with an error. */
    async close(graceMs: number): Promise<void> {
      void listening.drain();
      await listening.settled(graceMs);
      shutdownSignal.all();
      await listening.settled(lastWordTime);
      listening.cut();
      await listening.settled(afterCutMs);
    },
  };
}

/** An app as a function. Lambda's types omit the stream, which a function gets between event and context. */
export function createFunction(app: App): StreamingHandler {
  const handler: unknown = createHandler(app);
  return handler as StreamingHandler;
}

/** Answers one request by invoking the function; never rejects. */
async function invokeFunction(
  request: IncomingMessage,
  response: ServerResponse,
  { handler, functionTimeout, bodyLimit, onFailure, shutdownSignal }: Invocation & Pick<LocalContext, 'shutdownSignal'>,
): Promise<void> {
  const stream = createResponseStream(response);
  const clientGone = new AbortController();
  watchClient(request, response, () => {
    clientGone.abort();
    // The pipeline that feeds the stream ends with it, and so does what the pipeline reads from.
    stream.destroy(new Error('the client went away'));
  });
  askForBody(request, response)?.();
  const body = await readBody(request, bodyLimit);
  if (!body || clientGone.signal.aborted) return;

  const timeUp = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeUp.reject(new Error('the function ran into its timeout')), functionTimeout);
  try {
    const deadline = Date.now() + functionTimeout;
    const getRemainingTimeInMillis = () => Math.max(0, deadline - Date.now());
    const context = { clientGone: clientGone.signal, shutdownSignal, getRemainingTimeInMillis };
    await Promise.race([handler(toEvent(request, body), stream, context), timeUp.promise]);
    if (!stream.writableFinished)
      throw stream.errored ?? new Error('the function returned before its stream had ended');
  } catch (error) {
    if (clientGone.signal.aborted) return;
    onFailure(error);
    stream.destroy();
    refuse(response);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a request to its end, and keeps at most one byte more than the limit of its body; undefined if the client leaves before that. */
async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request) {
      if (size <= limit) chunks.push(chunk);
      size += chunk.length;
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).subarray(0, limit + 1);
}

/** Fails as AWS does: with an error answer if none has begun, else by cutting the connection. */
function refuse(response: ServerResponse): void {
  if (response.headersSent) response.socket?.destroySoon();
  else response.writeHead(502, { 'content-type': 'text/plain' }).end('Internal Server Error');
}

/** The content types whose body a Function URL passes on as text; all others, and none, become base64. */
const textType = /^(text\/.+|application\/(json|javascript|xml))$/;

/** What the gateway reads of the event that a Function URL makes from a request (payload format 2.0). */
function toEvent(request: IncomingMessage, body: Buffer): LambdaFunctionURLEvent {
  const headers = headersOf(request);
  const { path, query } = targetOf(request);
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  const isText = textType.test(mediaType) && isUtf8(body);
  const event = {
    version: '2.0',
    rawPath: path,
    rawQueryString: query,
    headers,
    requestContext: {
      domainName: URL.parse(`http://${headers.host}`)?.hostname ?? '',
      // The connection's own address: a client can write anything into a header.
      http: { method: request.method ?? 'GET', path, sourceIp: request.socket.remoteAddress ?? '' },
    },
    ...(body.length > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  };
  return event as LambdaFunctionURLEvent;
}
