import { openAiErrorFields } from '../../dialects/openai-error.ts';
import type { GatewayResponse } from '../../http/gateway-request.ts';
import type { PipelineDependencies } from '../pipelines/pipeline.ts';
import { toShownError } from '../wallet-error.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

/** Turns whatever was thrown into JSON in the OpenAI dialect. Stands first, so that it has the last word. */
export function renderErrors({ log, names }: Pick<PipelineDependencies, 'log' | 'names'>): Middleware {
  return {
    onError: ({ event: request, error: thrown }: PipelineRequest): GatewayResponse => {
      const error = toShownError(thrown);
      log.refused(request, error);
      return {
        statusCode: error.status,
        headers: {
          ...error.headers,
          'content-type': 'application/json',
          'cache-control': 'no-store',
          [names.error]: error.code,
        },
        body: JSON.stringify({ error: openAiErrorFields(error) }),
      };
    },
  };
}
