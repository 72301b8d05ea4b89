import { finished, pipeline } from 'node:stream/promises';
import type { Context, LambdaFunctionURLEvent } from 'aws-lambda';
import { over } from '../http/bodies.ts';
import { type App, type IncomingRequest, lastResort } from '../request/incoming-request.ts';
import { unlimitedMemory } from '../request/memory.ts';

/** A context, with the signals that only the local server has: Lambda neither reports who leaves nor stops a running request. */
type FunctionContext = Context & Partial<Pick<IncomingRequest, 'clientGone' | 'shutdownSignal'>>;

/** An app as a Lambda function that streams its answers. The global `awslambda` must be in place. */
export function createHandler(app: App) {
  return awslambda.streamifyResponse<LambdaFunctionURLEvent, void>(async (event, stream, context) => {
    const { body, settled, ...head } = await app(toCall(event, context)).catch(lastResort);
    const response = awslambda.HttpResponseStream.from(stream, head);
    if (typeof body === 'string') {
      response.write(body); // also an empty one: the head leaves with the first write
      response.end();
      await finished(response).finally(() => settled);
      return;
    }
    // The head leaves together with the beginning of the body, if that is ready.
    response.write(body.read() ?? '');
    // What is read on for a reader that has left is read before the environment freezes.
    await pipeline(body, response).finally(() => over(body));
  });
}

/** A Function URL's event as an app reads it. */
export function toCall(event: LambdaFunctionURLEvent, context: FunctionContext): IncomingRequest {
  const { headers, rawPath, requestContext, isBase64Encoded } = event;
  const { method, sourceIp } = requestContext.http;
  const bodySize = () => Buffer.byteLength(event.body ?? '', isBase64Encoded ? 'base64' : 'utf8');
  return {
    method,
    path: rawPath,
    headers,
    sourceAddress: sourceIp,
    memory: unlimitedMemory,
    clientGone: context.clientGone,
    shutdownSignal: context.shutdownSignal,
    host: hostOf(headers.host, requestContext.domainName),
    bodySize,
    dropBody: bodySize,
    takeBody: async () => {
      const { body = '' } = event;
      delete event.body;
      return isBase64Encoded ? Buffer.from(body, 'base64') : body;
    },
    timeLeft: () => context.getRemainingTimeInMillis(),
  };
}

/** Only the header knows a local server's port. It is believed if it names the domain that was called. */
function hostOf(header: string | undefined, domainName: string): string {
  const url = URL.parse(`http://${header}`);
  return url?.hostname === domainName ? url.host : domainName;
}
