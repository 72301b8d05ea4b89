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

/** What a client asks of a model, ready to be sent to whichever upstream is tried. */
export interface UpstreamRequest extends Asked {
  readonly model: PublicModel;
  readonly stream: boolean;
  readonly clientHeaders: Headers;
  /** What tells the upstream of the client's trace, if it may know. */
  readonly traceparent?: string | undefined;
  /** Nothing else keeps its text in memory. It is removed as soon as nobody needs it again. */
  body: OutgoingBody | undefined;
}

interface OutgoingBody {
  /** The conversation that it continues, whose words are parts of the text. */
  readonly conversation: Conversation;
  /** As the client sent it. */
  readonly text: string;
  /** All changes but that of the model. */
  readonly edits: readonly Edit[];
  /** Where the model's id goes. */
  readonly model: Omit<Edit, 'text'>;
  /** The top-level members that are among the changes because no upstream is told them. */
  readonly leftOut?: readonly string[] | undefined;
  /** The request as it was last prepared for an upstream that can't take it as it is. */
  prepared?: PreparedRequest;
}

export interface PreparedRequest extends Omit<HttpRequest, 'headers'> {
  readonly upstream: Upstream;
}

/** What is spoken instead, and how an answer in it becomes one for the client. */
export interface Translated {
  readonly dialect: Dialect;
  /** What a request in it must say besides. */
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: AnswerPlan;
  readonly sealing: Sealing;
  /** Whether the upstream signs its thoughts over all that came before them. */
  readonly signsThinking: boolean;
  /** Whether thoughts of the model go back to it, or were left out because it refused them. */
  readonly reasoning: 'sent' | 'refused' | 'none';
}

/** A request to the upstream. All it has of the client's is the body and a few headers of the dialect. */
export interface HttpRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
  /** The body's text in pieces, so that a long one need never be joined. */
  readonly pieces: readonly string[];
  /** Undefined if the upstream speaks the client's dialect. */
  readonly translated?: Translated | undefined;
  readonly leftOut?: LeftOut | undefined;
}

/** An open list, since agents add headers such as `anthropic-beta` every month; but none that chooses an account (`…-workspace-id`). */
const dialectHeader = /^(openai-beta|anthropic-.+)$/;
const choosesAccount =
  /(^|[^a-z0-9])(id|key|token|secret|auth|account|org|organization|workspace|profile)([^a-z0-9]|$)/;

/** Whether an upstream can't take a request as it is: it speaks another dialect, or can't read what was sealed while another did. */
export function needsPreparing(upstream: Upstream, outgoing: UpstreamRequest): boolean {
  return !speaks(upstream, outgoing) || bodyOf(outgoing).text.includes(`"${sealMark}`);
}

/** What an upstream calls a model in this dialect. */
export function modelAt({ models }: Upstream, { name }: Dialect, { kind }: PublicModel): string {
  const id = models[name][kind];
  if (id === undefined) throw new TypeError('this upstream has no such model');
  return id;
}

/** Under an upstream's address, which has a version of its own. */
export const urlUnder = (address: string, { path }: Endpoint) => address + path.replace('/v1', '');

/** The request as it is, or as it was prepared for this upstream. */
function contentFor(upstream: Upstream, outgoing: UpstreamRequest): Omit<HttpRequest, 'headers'> {
  const { dialect, endpoint, model } = outgoing;
  const body = bodyOf(outgoing);
  if (body.prepared?.upstream === upstream) return body.prepared;
  const pieces = renderBody(body, modelAt(upstream, dialect, model));
  const url = urlUnder(upstream.addresses[dialect.name], endpoint);
  if (body.leftOut === undefined) return { url, pieces };
  const leftOut = body.leftOut.join(', ');
  return { url, pieces, leftOut: { leftOut, leftOutForLog: leftOut } };
}

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
    ...dialect.authorize(key),
    ...(traceparent !== undefined && { traceparent }),
    ...translated?.headers,
  };
  for (const name of Object.keys(clientHeaders)) {
    // They speak of the client's dialect, which a translation does not.
    if (dialect !== outgoing.dialect || !dialectHeader.test(name) || choosesAccount.test(name)) continue;
    const value = readHeader(clientHeaders, name);
    if (value !== undefined) headers[name] = value;
  }
  Object.assign(headers, operatorHeaders);
  return { url, headers, pieces, translated, leftOut };
}

/** All changes to a body for an upstream that calls the model by this id. */
export const editsOf = ({ edits, model }: OutgoingBody, modelId: string): readonly Edit[] => [
  ...edits,
  { ...model, text: JSON.stringify(modelId) },
];

/** The text of such a body, in pieces. */
export const renderBody = (body: OutgoingBody, modelId: string): readonly string[] =>
  splitByEdits(body.text, editsOf(body, modelId));

export function bodyOf({ body }: UpstreamRequest): OutgoingBody {
  if (body === undefined) throw new TypeError('the body has been released');
  return body;
}

/** The value of a header. Refuses one that can't be sent. */
function readHeader(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  if (value === undefined || fitsHeader(value)) return value;
  throw new GatewayError('invalid_request', `The header ${name} holds characters that a header can't carry.`);
}

/**
 * Makes of a request what an upstream can take, unless the signal aborts. Throws a GatewayError if it can't be carried.
 * `withoutReasoning`: the upstream has refused it for thoughts of the model.
 */
export type Prepare = (
  outgoing: UpstreamRequest,
  upstream: Upstream,
  signal: AbortSignal,
  withoutReasoning?: boolean,
) => Promise<PreparedRequest>;
