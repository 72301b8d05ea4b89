import type { ErrorNature, GatewayError } from '../../errors.ts';
import type { RateLimit } from '../dialect.ts';
import type { ContextWords } from './answer/context-error.ts';

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

/** The error body of the OpenAI dialects and the models endpoints. */
export function renderOpenAiError(error: GatewayError): string {
  return JSON.stringify({ error: openAiErrorFields(error) });
}

export function openAiErrorFields({ message, nature, code, shownCode = code }: GatewayError) {
  return { message, type: openAiTypes[nature], code: shownCode };
}

/** The rate limit headers that OpenAI clients read. */
export function renderOpenAiRateLimit({ limit, remaining, resetSeconds }: RateLimit): Record<string, string> {
  return {
    'x-ratelimit-limit-requests': String(limit),
    'x-ratelimit-remaining-requests': String(remaining),
    ...(resetSeconds !== undefined && { 'x-ratelimit-reset-requests': `${resetSeconds}s` }),
  };
}

/** How OpenAI clients recognize that a request exceeds the model's context. */
export const openAiContextWords: ContextWords = { code: 'context_length_exceeded' };
