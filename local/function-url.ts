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

/** The part of a function's context that the gateway reads, with signals that Lambda lacks: client disconnect and shutdown. */
type LocalContext = Pick<Context, 'getRemainingTimeInMillis'> &
  Readonly<Record<'clientGone' | 'shutdownSignal', AbortSignal>>;

export type StreamingHandler = (
  event: LambdaFunctionURLEvent,
  responseStream: Writable,
  context: LocalContext,
) => Promise<unknown>;

export interface Invocation {
  readonly handler: StreamingHandler;
  /** Milliseconds until the function times out. */
  readonly functionTimeout: number;
  /** The gateway's own limit in bytes. One byte more is passed through, so that the gateway itself refuses the body. */
  readonly bodyLimit: number;
  /** Receives errors that the handler threw, which are hidden from the client. */
  readonly onFailure: (error: unknown) => void;
}

interface Listening {
  readonly handler: StreamingHandler;
  readonly host: string;
  readonly port: number;
  /** Renders the response to a malformed request, to which AWS would respond itself. */
  readonly refuse?: (error: GatewayError, path?: string) => GatewayResponse;
}

export type FunctionUrl = Awaited<ReturnType<typeof startFunctionUrl>>;

/** How long a handler may take for its last write to the store after its client was disconnected. */
const afterCutMs = 2_000;

/**
 * Serves a streaming Lambda function over HTTP as its Function URL would, except that the function itself refuses every body that
 * is too large. AWS may refuse one first, because it limits the size of the encoded event.
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
    /** Accepts no more requests, gives running ones this long to end, then ends each with an error. */
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

/** Wraps an app as a Lambda function. Lambda's types omit the stream argument between event and context. */
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
    // This also ends the pipeline that feeds the stream, and the pipeline's source.
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

/** Reads a request to its end, but buffers at most one byte more than `limit`. Undefined if the client disconnects first. */
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

/** Fails as AWS does: with an error response if none has started, else by closing the connection. */
function refuse(response: ServerResponse): void {
  if (response.headersSent) response.socket?.destroySoon();
  else response.writeHead(502, { 'content-type': 'text/plain' }).end('Internal Server Error');
}

/** The content types whose body a Function URL passes as text. Any other body is base64-encoded. */
const textType = /^(text\/.+|application\/(json|javascript|xml))$/;

/** The part of a Function URL's event (payload format 2.0) that the gateway reads. */
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
      // The connection's own address, because a client can send any header.
      http: { method: request.method ?? 'GET', path, sourceIp: request.socket.remoteAddress ?? '' },
    },
    ...(body.length > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  };
  return event as LambdaFunctionURLEvent;
}
