import type { Dialect, Endpoint } from '../dialects/dialect.ts';
import type { LeftOut } from '../dialects/model/request/left-out.ts';
import type { Sealing } from '../dialects/model/seal.ts';
import { sealMark } from '../dialects/model/sealed.ts';
import type { AnswerPlan } from '../dialects/translation.ts';
import { GatewayError } from '../errors.ts';
import { type Edit, splitByEdits } from '../json/edit.ts';
import { fitsHeader } from '../settings/kinds.ts';
import type { PublicModel } from '../settings/models.ts';
import type { Upstream } from '../settings/read-upstreams.ts';
import type { Conversation, Headers } from './conversation.ts';
import { type Asked, speaks } from './destination.ts';
import type { Candidate } from './pool.ts';

/** A client's request for a model, before it is made to fit the upstream that is tried. */
export interface UpstreamRequest extends Asked {
  readonly model: PublicModel;
  readonly stream: boolean;
  readonly clientHeaders: Headers;
  /** The trace context for the upstream, if the operator lets it see that. */
  readonly traceparent?: string | undefined;
  /** The only reference to the body's text, so that removing it frees the memory. Removed as soon as it is not needed again. */
  body: OutgoingBody | undefined;
}

interface OutgoingBody {
  /** The conversation. Its traits may be slices of the text, which they retain. */
  readonly conversation: Conversation;
  /** As the client sent it. */
  readonly text: string;
  /** All changes except the model's id and those that ask for usage. */
  readonly edits: readonly Edit[];
  /** The changes that ask a stream for its usage. */
  readonly usageEdits?: readonly Edit[] | undefined;
  /** Where the model's id goes. */
  readonly model: Omit<Edit, 'text'>;
  /** The top-level members that the edits drop because no upstream gets them. */
  readonly leftOut?: readonly string[] | undefined;
  /** The request as last prepared for an upstream that can't take it as it is. */
  prepared?: PreparedRequest;
}

export interface PreparedRequest extends Omit<HttpRequest, 'headers'> {
  readonly upstream: Upstream;
}

/** A translation: the upstream's dialect, and how to translate the answer back. */
export interface Translated {
  readonly dialect: Dialect;
  /** Headers that the dialect requires. */
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: AnswerPlan;
  readonly sealing: Sealing;
  /** Whether the upstream signs its reasoning over everything before it. */
  readonly signsThinking: boolean;
  /** Whether the request carries the model's earlier reasoning, or was stripped of it because the upstream refused it. */
  readonly reasoning: 'sent' | 'refused' | 'none';
}

/** The HTTP request to an upstream. From the client's request it has only the body and a few headers of the dialect. */
export interface HttpRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
  /** The body's text in pieces, so that a long one is never joined. */
  readonly pieces: readonly string[];
  /** Undefined if the upstream speaks the client's dialect. */
  readonly translated?: Translated | undefined;
  readonly leftOut?: LeftOut | undefined;
}

/** Open-ended, since agents add headers such as `anthropic-beta` every month; but none that selects an account (`…-workspace-id`). */
const dialectHeader = /^(openai-beta|anthropic-.+)$/;
const choosesAccount =
  /(^|[^a-z0-9])(id|key|token|secret|auth|account|org|organization|workspace|profile)([^a-z0-9]|$)/;

/** Whether an upstream can't take a request as it is: it speaks another dialect, or the body has seals from a translated answer. */
export function needsPreparing(upstream: Upstream, outgoing: UpstreamRequest): boolean {
  return !speaks(upstream, outgoing) || bodyOf(outgoing).text.includes(`"${sealMark}`);
}

/** The upstream's own id of a model in this dialect. */
export function modelAt({ models }: Upstream, { name }: Dialect, { kind }: PublicModel): string {
  const id = models[name][kind];
  if (id === undefined) throw new TypeError('this upstream has no such model');
  return id;
}

/** The URL of an endpoint. The upstream's base URL has its own version, which replaces `/v1`. */
export const urlUnder = (address: string, { path }: Endpoint) => address + path.replace('/v1', '');

/** The request as prepared for this upstream, or as it is. */
function contentFor(upstream: Upstream, outgoing: UpstreamRequest): Omit<HttpRequest, 'headers'> {
  const { dialect, endpoint, model } = outgoing;
  const body = bodyOf(outgoing);
  if (body.prepared?.upstream === upstream) return body.prepared;
  const pieces = renderBody(body, upstream, modelAt(upstream, dialect, model));
  const url = urlUnder(upstream.addresses[dialect.name], endpoint);
  if (body.leftOut === undefined) return { url, pieces };
  const leftOut = body.leftOut.join(', ');
  return { url, pieces, leftOut: { leftOut, leftOutForLog: leftOut } };
}

/** The headers with the key. Bedrock takes tokens in `authorization` only, in every dialect. */
export const authorizationFor = ({ tokenRegion }: Upstream, dialect: Dialect, key: string): Record<string, string> =>
  tokenRegion === undefined ? dialect.authorize(key) : { authorization: `Bearer ${key}`, ...dialect.headers };

export function buildHttpRequest(candidate: Candidate, outgoing: UpstreamRequest): HttpRequest {
  const { upstream, key, headers: operatorHeaders } = candidate;
  const { stream, clientHeaders, traceparent } = outgoing;
  const { url, pieces, translated, leftOut } = contentFor(upstream, outgoing);
  const { dialect } = translated ?? outgoing;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: readHeader(clientHeaders, 'accept') ?? (stream ? 'text/event-stream' : 'application/json'),
    'accept-encoding': 'identity',
    'content-length': String(pieces.reduce((total, piece) => total + Buffer.byteLength(piece), 0)),
    ...authorizationFor(upstream, dialect, key),
    ...(traceparent !== undefined && { traceparent }),
    ...translated?.headers,
  };
  for (const name of Object.keys(clientHeaders)) {
    // These headers belong to the client's dialect, so they don't go with a translation.
    if (dialect !== outgoing.dialect || !dialectHeader.test(name) || choosesAccount.test(name)) continue;
    const value = readHeader(clientHeaders, name);
    if (value !== undefined) headers[name] = value;
  }
  Object.assign(headers, operatorHeaders);
  return { url, headers, pieces, translated, leftOut };
}

/** All changes to a body for an upstream with this model id. */
export const editsOf = (
  { edits, usageEdits = [], model }: OutgoingBody,
  { translation }: Upstream,
  modelId: string,
): readonly Edit[] => [
  ...edits,
  ...(translation.streamOptions === 'send' ? usageEdits : []),
  { ...model, text: JSON.stringify(modelId) },
];

/** The edited body, in pieces. */
export const renderBody = (body: OutgoingBody, upstream: Upstream, modelId: string): readonly string[] =>
  splitByEdits(body.text, editsOf(body, upstream, modelId));

export function bodyOf({ body }: UpstreamRequest): OutgoingBody {
  if (body === undefined) throw new TypeError('the body has been released');
  return body;
}

/** The value of a header. Refuses a value that can't be sent. */
function readHeader(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  if (value === undefined || fitsHeader(value)) return value;
  throw new GatewayError('invalid_request', `The header ${name} holds characters that a header can't carry.`);
}

/**
 * Prepares a request for an upstream that can't take it as it is. Throws a GatewayError if the upstream can't carry it.
 * `withoutReasoning`: leave out the model's earlier reasoning, which the upstream has refused.
 */
export type Prepare = (
  outgoing: UpstreamRequest,
  upstream: Upstream,
  signal: AbortSignal,
  withoutReasoning?: boolean,
) => Promise<PreparedRequest>;
