import type { GatewayError } from '../errors.ts';
import type { GatewayResponse } from './call.ts';
import { createRequestId, gatewayHeaders, type HeaderSettings } from './headers.ts';
import { openAiLooks } from './routes.ts';

/** Renders the refusal of what is no request, and so has no path and no caller. */
export function createRefuse(settings: HeaderSettings & { readonly guestLimit: number }) {
  const outcome = { figures: { limit: settings.guestLimit, remaining: 0 } };
  return (error: GatewayError): GatewayResponse => {
    const route = { ...openAiLooks, kind: 'refused', name: 'unknown', error } as const;
    return {
      statusCode: error.status,
      headers: {
        'content-type': 'application/json',
        [settings.names.error]: error.code,
        ...gatewayHeaders({ id: createRequestId(), headers: {}, outcome, route }, settings),
      },
      body: route.renderError(error),
    };
  };
}
