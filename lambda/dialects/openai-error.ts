import type { ErrorNature, GatewayError } from '../errors.ts';

/** The `type` of an OpenAI error, by what went wrong. */
export const openAiTypes: Readonly<Record<ErrorNature, string>> = {
  request: 'invalid_request_error',
  caller: 'invalid_request_error',
  permission: 'invalid_request_error',
  missing: 'invalid_request_error',
  size: 'invalid_request_error',
  rate: 'rate_limit_error',
  quota: 'insufficient_quota',
  server: 'server_error',
  overload: 'server_error',
  time: 'server_error',
};

/** The error body that both OpenAI dialects and the models endpoints share. */
export function renderOpenAiError(error: GatewayError): string {
  return JSON.stringify({ error: openAiErrorFields(error) });
}

export function openAiErrorFields({ message, nature, code, shownCode = code }: GatewayError) {
  return { message, type: openAiTypes[nature], code: shownCode };
}
