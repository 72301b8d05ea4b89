import { renderOpenAiError } from '../dialects/openai-error.ts';
import { toGatewayError } from '../errors.ts';
import type { GatewayResponse } from '../request/request.ts';

/** The answer when the app fails to render its own error. */
export function lastResort(): GatewayResponse {
  const error = toGatewayError(undefined);
  const headers = { 'content-type': 'application/json' };
  return { statusCode: error.status, headers, body: renderOpenAiError(error) };
}
