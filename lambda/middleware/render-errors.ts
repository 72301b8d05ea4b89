import { toGatewayError } from '../http/errors.ts';
import type { HeaderNames } from '../http/gateway-headers.ts';
import type { GatewayResponse } from '../http/gateway-request.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

/** Renders whatever was thrown in the endpoint's dialect. Comes first, so that it has the last word. */
export function renderErrors({ names }: { names: HeaderNames }): Middleware {
  return {
    onError: ({ event: request, error: thrown }: PipelineRequest): GatewayResponse => {
      const error = toGatewayError(thrown);
      request.end = 'refused';
      request.error = error;
      return {
        statusCode: error.status,
        headers: { ...error.headers, 'content-type': 'application/json', [names.error]: error.code },
        body: request.route.renderError(error),
      };
    },
  };
}
