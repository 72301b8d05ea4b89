import type { Dialect, Endpoint } from '../dialects/dialect.ts';
import { renderOpenAiError } from '../dialects/openai-error.ts';
import { GatewayError } from '../errors.ts';
import type { Call } from './call.ts';

/** Where a request goes, and how errors look on that path. */
export type Route = InferenceRoute | OtherRoute;

interface Named {
  readonly name: string;
  readonly renderError: (error: GatewayError) => string;
}

export interface InferenceRoute extends Named {
  readonly kind: 'inference';
  readonly dialect: Dialect;
  readonly endpoint: Endpoint;
}

type OtherRoute = Named &
  (
    | { readonly kind: 'usage' }
    | { readonly kind: 'models' }
    | { readonly kind: 'model'; readonly id: string }
    | { readonly kind: 'preflight' }
    | { readonly kind: 'health' }
    | { readonly kind: 'refused'; readonly error: GatewayError }
  );

export interface Router {
  route(call: Pick<Call, 'method' | 'path' | 'headers' | 'health'>): Route;
}

const modelsPath = '/v1/models';
const usagePath = '/v1/usage';
/** Where a balancer checks whether a process takes requests. */
const healthPath = '/healthz';

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
  const known = [...inference.keys(), modelsPath, usagePath];

  return {
    route(call) {
      const { method, path, headers } = call;
      const openAi = { name: 'unknown', renderError: renderOpenAiError };
      const found = inference.get(path);
      const isModel = path === modelsPath || path.startsWith(`${modelsPath}/`);
      const isHealth = path === healthPath && call.health !== undefined;
      const ownName = isModel ? modelsPath : isHealth ? healthPath : path === usagePath ? usagePath : undefined;
      const named = found ?? (ownName === undefined ? undefined : { ...openAi, name: ownName });
      if (isPreflight(method, headers)) return { ...(named ?? openAi), kind: 'preflight' };
      if (!named) {
        const help = explainSlip(path, known);
        // Names no vendor: the operator may hide its upstream's.
        const message = `There is nothing at this path${help}. Clients that add /v1 to the base URL take it without, all others with /v1 at its end.`;
        return { ...openAi, kind: 'refused', error: new GatewayError('not_found', message) };
      }
      const { webSocketBeta } = found?.endpoint ?? {};
      if (found && webSocketBeta && isWebSocketHandshake(call, webSocketBeta)) {
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
      if (isHealth) return { ...openAi, name: healthPath, kind: 'health' };
      if (path === usagePath) return { ...openAi, name: usagePath, kind: 'usage' };
      if (path === modelsPath) return { ...openAi, name: modelsPath, kind: 'models' };
      return { ...openAi, name: `${modelsPath}/{id}`, kind: 'model', id: decode(path.slice(modelsPath.length + 1)) };
    },
  };
}

/** The mistakes that clients make when they append a path to a base URL. */
const slips: readonly (readonly [RegExp, string, string])[] = [
  // With the look-behind a long run of slashes is tried only once.
  [/(?<!\/)\/+$/, '', 'a slash too many at its end'],
  [/\/{2,}/g, '/', 'a slash too many'],
  [/^(\/v1){2,}(?=\/)/, '/v1', '/v1 more than once'],
  [/^(?!\/v1\/)/, '/v1', 'no /v1'],
];

/** Says what is wrong with a path that is almost a known one, or else which paths there are. */
function explainSlip(path: string, known: readonly string[]): string {
  const faults: string[] = [];
  let mended = path;
  for (const [slip, instead, fault] of slips) {
    const before = mended;
    mended = mended.replace(slip, instead);
    if (mended !== before) faults.push(fault);
  }
  if (!known.includes(mended)) return `. The endpoints are ${known.join(', ')}`;
  return `: it has ${faults.join(' and ')}. Use ${mended}`;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/**
 * Whether a request asks for a WebSocket. Platforms strip `Upgrade`, so this looks for the rest of the handshake, or for the beta
 * that agents name with it.
 */
function isWebSocketHandshake({ method, headers }: Pick<Call, 'method' | 'headers'>, beta: RegExp): boolean {
  if (method !== 'GET') return false;
  return headers['sec-websocket-key'] !== undefined || beta.test(headers['openai-beta'] ?? '');
}

/** Whether a request is a CORS preflight. */
function isPreflight(method: string, requestHeaders: Call['headers']): boolean {
  return method === 'OPTIONS' && requestHeaders['access-control-request-method'] !== undefined;
}
