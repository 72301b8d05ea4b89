import { renderOpenAiError } from '../dialects/openai-error.ts';
import { toGatewayError } from '../http/errors.ts';
import type { GatewayResponse } from '../http/gateway-request.ts';

/** The answer when the app fails to render its own error. */
export function lastResort(): GatewayResponse {
  const body = renderOpenAiError(toGatewayError(undefined));
  return { statusCode: 500, headers: { 'content-type': 'application/json' }, body };
}
