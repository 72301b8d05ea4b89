import { Readable } from 'node:stream';
import middy from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { LambdaFunctionURLEvent } from 'aws-lambda';
import type { App, AppContext } from './app.ts';
import { renderOpenAiError } from './dialects/openai-error.ts';
import { toGatewayError } from './errors.ts';
import type { GatewayResponse } from './gateway-request.ts';

/** The app as a Lambda function that streams its answers. The global `awslambda` must be in place. */
export function createHandler(app: App) {
  return middy<LambdaFunctionURLEvent, GatewayResponse, Error, AppContext>({
    executionMode: executionModeStreamifyResponse,
    timeoutEarlyInMillis: 0,
  })
    .onError(() => ({
      // The app renders its own errors: what comes here is a fault in that.
      statusCode: 500,
      headers: { 'content-type': 'application/json' },
      body: renderOpenAiError(toGatewayError(undefined)),
    }))
    .handler(async (event, context) => {
      const { body, ...response } = await app(event, context);
      return { ...response, body: typeof body === 'string' ? inOnePiece(body) : body };
    });
}

/** Middy cuts a longer string every 16,384 units, also in the middle of a character: bytes it leaves whole. */
function inOnePiece(body: string): string | Readable {
  return body.length <= 16_384 ? body : Readable.from([Buffer.from(body)]);
}
