import { finished, pipeline } from 'node:stream/promises';
import type { LambdaFunctionURLEvent } from 'aws-lambda';
import type { App, AppContext } from '../app.ts';
import { renderOpenAiError } from '../dialects/openai-error.ts';
import { toGatewayError } from '../http/errors.ts';
import type { GatewayResponse } from '../http/gateway-request.ts';

/** The app as a Lambda function that streams its answers. The global `awslambda` must be in place. */
export function createHandler(app: App) {
  return awslambda.streamifyResponse<LambdaFunctionURLEvent, void>(async (event, stream, context) => {
    const { body, ...head } = await app(event, context as AppContext).catch(lastResort);
    const response = awslambda.HttpResponseStream.from(stream, head);
    if (typeof body === 'string') {
      response.write(body); // also an empty one: the head leaves with the first write
      response.end();
      await finished(response);
      return;
    }
    // The head leaves together with what is there of the body.
    response.write(body.read() ?? '');
    await pipeline(body, response);
  });
}

/** The app renders its own errors: what comes here is a fault in that. */
function lastResort(): GatewayResponse {
  const body = renderOpenAiError(toGatewayError(undefined));
  return { statusCode: 500, headers: { 'content-type': 'application/json' }, body };
}
