import type { Dialect, Endpoint } from '../dialects/dialect.ts';
import { notOffered } from '../dialects/model/check-body.ts';
import { renderOpenAiError, renderOpenAiRateLimit } from '../dialects/model/openai.ts';
import { type ErrorCode, type ErrorOptions, GatewayError } from '../errors.ts';
import { correctPath } from './correct-path.ts';
import type { IncomingRequest } from './incoming-request.ts';

/** Where a request goes, and the format of errors and rate limits on that path. */
export type Route = InferenceRoute | OtherRoute;

export interface ErrorFormat extends Pick<Dialect, 'renderError' | 'renderRateLimit'> {
  /** The headers of errors in a format other than JSON. */
  readonly errorHeaders?: Readonly<Record<string, string>>;
}

interface Named extends ErrorFormat {
  readonly name: string;
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
    | { readonly kind: 'preflight'; readonly allow: string | undefined }
    | { readonly kind: 'health' }
    | { readonly kind: 'notFound'; readonly known: readonly string[] }
    | { readonly kind: 'refused'; readonly error: GatewayError }
  );

export type FindRoute = (incoming: Pick<IncomingRequest, 'method' | 'path' | 'headers' | 'health'>) => Route;

const modelsPath = '/v1/models';
const usagePath = '/v1/usage';
/** Where load balancers check whether the process accepts requests. */
const healthPath = '/healthz';

export const openAiErrorFormat: ErrorFormat = {
  renderError: renderOpenAiError,
  renderRateLimit: renderOpenAiRateLimit,
};
const errorFormatOf = ({ renderError, renderRateLimit }: ErrorFormat): ErrorFormat => ({
  renderError,
  renderRateLimit,
});

/** The responses at paths without an endpoint. */
export interface Elsewhere {
  /** Endpoints that this deployment does not offer. */
  readonly missing?: readonly Endpoint[];
  /** The error format for browsers. */
  readonly lostPage?: ErrorFormat;
}

/** Whether a browser navigates here: programs don't accept HTML. */
export const isBrowser = ({ method, headers }: Pick<IncomingRequest, 'method' | 'headers'>): boolean =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '');

/** Maps method and path to a route. */
export function createRouter(
  dialects: readonly Dialect[],
  { missing = [], lostPage = openAiErrorFormat }: Elsewhere = {},
): FindRoute {
  const inference = new Map(
    dialects.flatMap((dialect) =>
      dialect.endpoints.map((endpoint) => [
        endpoint.path,
        { kind: 'inference', name: endpoint.path, dialect, endpoint, ...errorFormatOf(dialect) } as const,
      ]),
    ),
  );
  const known = [...inference.keys(), modelsPath, usagePath];
  /** A client whose path is nearly an endpoint's expects the error format of that endpoint. */
  const errorFormatNear = (path: string): ErrorFormat => {
    const meant = inference.get(correctPath(path).corrected);
    return meant ? errorFormatOf(meant) : openAiErrorFormat;
  };

  return (incoming) => {
    const { method, path } = incoming;
    const found = inference.get(path) ?? findOther(incoming);
    const named: Named = found
      ? { name: found.name, ...errorFormatOf(found) }
      : { name: 'unknown', ...errorFormatNear(path) };
    const refuse = (code: ErrorCode, message: string, more: ErrorOptions = {}): Route => {
      return { ...named, kind: 'refused', error: new GatewayError(code, message, more) };
    };
    const allowed = found ? methodsOf(found) : [];
    const allow = () => [...allowed, 'OPTIONS'].join(', ');
    if (method === 'OPTIONS') return { ...named, kind: 'preflight', allow: found && allow() };
    const unavailable = missing.find((endpoint) => endpoint.path === path);
    if (unavailable) return { ...named, kind: 'refused', error: notOffered(unavailable) };
    if (!found) return { ...named, ...(isBrowser(incoming) && lostPage), kind: 'notFound', known };
    if (found.kind === 'inference' && isWebSocketHandshake(incoming, found.endpoint)) {
      const message = `WebSockets are not offered here. Send a POST to ${path}; with "stream": true its answer comes in events.`;
      return refuse('upgrade_required', message);
    }
    if (!allowed.includes(method)) {
      return refuse('method_not_allowed', `This path takes ${allowed.join(' and ')} only.`, {
        headers: { allow: allow() },
      });
    }
    return found.kind === 'model' ? { ...found, name: `${modelsPath}/{id}` } : found;
  };
}

/** Besides OPTIONS. Load balancers and monitors also use HEAD for health checks. */
function methodsOf({ kind }: Route): readonly string[] {
  if (kind === 'inference') return ['POST'];
  return kind === 'health' ? ['GET', 'HEAD'] : ['GET'];
}

function findOther({ path, health }: Pick<IncomingRequest, 'path' | 'health'>): OtherRoute | undefined {
  if (path === modelsPath) return { kind: 'models', name: modelsPath, ...openAiErrorFormat };
  if (path === usagePath) return { kind: 'usage', name: usagePath, ...openAiErrorFormat };
  if (path === healthPath && health !== undefined) return { kind: 'health', name: healthPath, ...openAiErrorFormat };
  if (!path.startsWith(`${modelsPath}/`)) return undefined;
  return { kind: 'model', name: modelsPath, id: decode(path.slice(modelsPath.length + 1)), ...openAiErrorFormat };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/**
 * Whether a request tries to open a WebSocket. Platforms strip `Upgrade`, so this looks for the rest of the handshake, or for the
 * beta header that agents send with it.
 */
function isWebSocketHandshake(
  { method, headers }: Pick<IncomingRequest, 'method' | 'headers'>,
  { webSocketBeta }: Endpoint,
) {
  if (method !== 'GET' || webSocketBeta === undefined) return false;
  return headers['sec-websocket-key'] !== undefined || webSocketBeta.test(headers['openai-beta'] ?? '');
}
