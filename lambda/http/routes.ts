import type { Dialect, Endpoint } from '../dialects/dialect.ts';
import { renderOpenAiError } from '../dialects/openai-error.ts';
import type { Call } from './call.ts';
import { isPreflight } from './cors.ts';
import { GatewayError } from './errors.ts';
import { isWebSocketHandshake } from './websocket.ts';

/** Where a request goes, and how an error looks on that path. */
export type Route = { readonly name: string; readonly renderError: (error: GatewayError) => string } & (
  | { readonly kind: 'inference'; readonly dialect: Dialect; readonly endpoint: Endpoint }
  | { readonly kind: 'models' }
  | { readonly kind: 'model'; readonly id: string }
  | { readonly kind: 'preflight' }
  | { readonly kind: 'refused'; readonly error: GatewayError }
);

export interface Router {
  route(call: Pick<Call, 'method' | 'path' | 'headers'>): Route;
}

const modelsPath = '/v1/models';

/** Maps method and path to a route. */
export function createRouter(dialects: readonly Dialect[]): Router {
  const inference = new Map(
    dialects.flatMap((dialect) =>
      dialect.endpoints.map((endpoint) => [
        endpoint.path,
        { kind: 'inference', name: endpoint.path, dialect, endpoint, renderError: dialect.renderError } as const,
      ]),
    ),
  );
  const known = [...inference.keys(), modelsPath].join(', ');

  return {
    route(call) {
      const { method, path, headers } = call;
      const openAi = { name: 'unknown', renderError: renderOpenAiError };
      const found = inference.get(path);
      const isModel = path === modelsPath || path.startsWith(`${modelsPath}/`);
      const named = found ?? (isModel ? { ...openAi, name: modelsPath } : undefined);
      if (isPreflight(method, headers)) return { ...(named ?? openAi), kind: 'preflight' };
      if (!named) {
        const message = `There is nothing at this path. The endpoints are ${known}; OpenAI clients take a base URL that ends in /v1, Anthropic clients one without it.`;
        return { ...openAi, kind: 'refused', error: new GatewayError('not_found', message) };
      }
      if (found?.endpoint.triedByWebSocket && isWebSocketHandshake(call)) {
        const message = `WebSockets are not offered here. Send a POST to ${path}; with "stream": true its answer comes in events.`;
        return { ...found, kind: 'refused', error: new GatewayError('upgrade_required', message) };
      }
      const allowed = found ? 'POST' : 'GET';
      if (method !== allowed) {
        const error = new GatewayError('method_not_allowed', `This path takes ${allowed} only.`, {
          headers: { allow: `${allowed}, OPTIONS` },
        });
        return { name: named.name, renderError: named.renderError, kind: 'refused', error };
      }
      if (found) return found;
      if (path === modelsPath) return { ...openAi, name: modelsPath, kind: 'models' };
      return { ...openAi, name: `${modelsPath}/{id}`, kind: 'model', id: decode(path.slice(modelsPath.length + 1)) };
    },
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
