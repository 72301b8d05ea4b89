import { dialects } from '../dialects/index.ts';
import type { GatewayError } from '../errors.ts';
import { createRequestId, gatewayHeaders, type HeaderNames, type HeaderSettings } from './headers.ts';
import type { GatewayResponse } from './incoming-request.ts';
import { createRouter, openAiErrorFormat, type Route } from './routes.ts';

/** Renders an error in the format of a route, without the headers that every response has. */
export function renderRefusal(
  error: GatewayError,
  { renderError, errorHeaders }: Pick<Route, 'renderError' | 'errorHeaders'>,
  names: HeaderNames,
) {
  return {
    statusCode: error.status,
    headers: { ...error.headers, 'content-type': 'application/json', ...errorHeaders, [names.error]: error.code },
    body: renderError(error),
  };
}

/** Renders errors for requests that never reach the app. If Node couldn't parse the request, there is no path either. */
export function createRefuse(settings: HeaderSettings & { readonly guestLimit: number }) {
  const outcome = { snapshot: { limit: settings.guestLimit, remaining: 0 } };
  const findRoute = createRouter(dialects);
  return (error: GatewayError, path?: string): GatewayResponse => {
    const { renderError, renderRateLimit } =
      path === undefined ? openAiErrorFormat : findRoute({ method: 'POST', path, headers: {} });
    const route = { renderError, renderRateLimit, kind: 'refused', name: 'unknown', error } as const;
    const { headers, ...refusal } = renderRefusal(error, route, settings.names);
    const arrived = { id: createRequestId(), headers: {}, outcome, route };
    return { ...refusal, headers: { ...headers, ...gatewayHeaders(arrived, settings) } };
  };
}
