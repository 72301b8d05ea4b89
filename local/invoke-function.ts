import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { Context, LambdaFunctionURLEvent } from 'aws-lambda';
import { readBody } from '../lambda/engines/body.ts';
import { askForBody, watchClient } from '../lambda/engines/http-message.ts';
import { toFunctionUrlEvent } from './function-url-event.ts';
import { createResponseStream } from './response-stream.ts';

/** A function's context, with a signal that Lambda lacks: that the client has gone away. */
export interface LocalContext extends Context {
  readonly clientGone: AbortSignal;
}

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

/** Answers one request by invoking the function; never rejects. */
export async function invokeFunction(
  request: IncomingMessage,
  response: ServerResponse,
  { handler, functionTimeout, bodyLimit, onFailure }: Invocation,
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
    const now = Date.now();
    const requestId = randomUUID();
    const event = toFunctionUrlEvent(request, body, requestId, now);
    const context = createContext(requestId, now + functionTimeout, clientGone.signal);
    await Promise.race([handler(event, stream, context), timeUp.promise]);
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

/** Fails as AWS does: with an error answer if none has begun, else by cutting the connection. */
function refuse(response: ServerResponse): void {
  if (response.headersSent) response.socket?.destroySoon();
  else response.writeHead(502, { 'content-type': 'text/plain' }).end('Internal Server Error');
}

function createContext(requestId: string, deadline: number, clientGone: AbortSignal): LocalContext {
  const unused = () => {};
  return {
    clientGone,
    callbackWaitsForEmptyEventLoop: true,
    functionName: 'gateway',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:local:000000000000:function:gateway',
    memoryLimitInMB: '1024',
    awsRequestId: requestId,
    logGroupName: '/aws/lambda/gateway',
    logStreamName: 'local',
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    done: unused,
    fail: unused,
    succeed: unused,
  };
}
