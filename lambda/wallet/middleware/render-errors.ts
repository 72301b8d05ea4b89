import { openAiErrorFields } from '../../dialects/openai-error.ts';
import type { HeaderNames } from '../../http/gateway-headers.ts';
import type { GatewayResponse } from '../../http/gateway-request.ts';
import type { WalletLog } from '../log.ts';
import { toShownError } from '../wallet-error.ts';
import type { Middleware, PipelineRequest } from './middleware.ts';

interface Dependencies {
  readonly log: WalletLog;
  readonly names: Pick<HeaderNames, 'error'>;
}

/** Renders whatever was thrown as JSON in the OpenAI dialect. Comes first, so that it has the last word. */
export function renderErrors({ log, names }: Dependencies): Middleware {
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
