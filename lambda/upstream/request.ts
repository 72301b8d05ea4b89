import type { Dialect, Endpoint } from '../dialects/dialect.ts';
import { GatewayError } from '../http/errors.ts';
import type { PublicModel } from '../models.ts';
import { fitsHeader } from '../settings/header-value.ts';
import type { Candidate } from './pool.ts';

export type Headers = Readonly<Record<string, string | undefined>>;

/** A request to the upstream. All it has of the client's is the body and a few headers of the dialect. */
export interface UpstreamRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
  /** The body's text in pieces, so that a long one need never be joined. */
  readonly pieces: readonly string[];
}

/** An open list, since agents add headers of their dialect every month; but none that chooses an account. */
const ofDialect = /^(openai-beta|anthropic-.+)$/;
const choosesAccount =
  /(^|[^a-z0-9])(id|key|token|secret|auth|account|org|organization|workspace|profile)([^a-z0-9]|$)/;

/** The parts of a call that matter for the upstream. */
interface Call {
  readonly dialect: Dialect;
  readonly endpoint: Endpoint;
  readonly model: PublicModel;
  readonly stream: boolean;
  bodyFor(upstreamModel: string): readonly string[];
}

/** Builds the request for one try. */
export function buildUpstreamRequest(candidate: Candidate, call: Call, clientHeaders: Headers): UpstreamRequest {
  const { upstream, key, headers: ofOperator } = candidate;
  const { dialect, endpoint, model, stream } = call;
  const pieces = call.bodyFor(upstream.models[endpoint.address][model.kind]);
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: readHeader(clientHeaders, 'accept') ?? (stream ? 'text/event-stream' : 'application/json'),
    'accept-encoding': 'identity',
    'content-length': String(pieces.reduce((total, piece) => total + Buffer.byteLength(piece), 0)),
    ...dialect.authorize(key),
  };
  for (const name of Object.keys(clientHeaders)) {
    if (!ofDialect.test(name) || choosesAccount.test(name)) continue;
    const value = readHeader(clientHeaders, name);
    if (value !== undefined) headers[name] = value;
  }
  Object.assign(headers, ofOperator);
  return { url: upstream.addresses[endpoint.address] + endpoint.upstreamPath, headers, pieces };
}

/** The value of a header. Refuses one that can't be sent. */
function readHeader(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  if (value === undefined || fitsHeader(value)) return value;
  throw new GatewayError('invalid_request', `The header ${name} holds characters that a header can't carry.`);
}
