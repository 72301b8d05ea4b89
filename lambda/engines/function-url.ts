import { finished, pipeline } from 'node:stream/promises';
import type { Context, LambdaFunctionURLEvent } from 'aws-lambda';
import { over } from '../http/bodies.ts';
import { type App, type IncomingRequest, lastResort } from '../request/incoming-request.ts';
import { unlimitedMemory } from '../request/memory.ts';

/** The Lambda context, with signals that only the local server has: Lambda reports no disconnects and never stops a running request. */
type FunctionContext = Context & Partial<Pick<IncomingRequest, 'clientGone' | 'shutdownSignal'>>;

/** Serves an app as a Lambda function with response streaming. Needs the global `awslambda`. */
export function createHandler(app: App) {
  return awslambda.streamifyResponse<LambdaFunctionURLEvent, void>(async (event, stream, context) => {
    const { body, settled, ...head } = await app(toIncomingRequest(event, context)).catch(lastResort);
    const response = awslambda.HttpResponseStream.from(stream, head);
    if (typeof body === 'string') {
      response.write(body); // even if empty: the first write sends the headers
      response.end();
      await finished(response).finally(() => settled);
      return;
    }
    // Sends the headers, together with the start of the body if there is one already.
    response.write(body.read() ?? '');
    // After a disconnect, the upstream's answer may still be read for its usage. Wait for that, before Lambda freezes the process.
    await pipeline(body, response).finally(() => over(body));
  });
}

/** Converts a Function URL event. */
export function toIncomingRequest(event: LambdaFunctionURLEvent, context: FunctionContext): IncomingRequest {
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

/** Only the Host header has the port of a local server. It is trusted if it names the domain that was called. */
function hostOf(header: string | undefined, domainName: string): string {
  const url = URL.parse(`http://${header}`);
  return url?.hostname === domainName ? url.host : domainName;
}
