import type { Readable } from 'node:stream';
import type { Endpoint, Question, TokenCounts } from '../dialects/dialect.ts';
import type { Identity } from '../identity/identity.ts';
import type { PublicModel } from '../models.ts';
import type { Charge } from '../quota/charge.ts';
import type { LimitsUsed } from '../quota/deployment-limit.ts';
import type { Figures } from '../quota/refusal.ts';
import type { Conversation } from '../upstream/affinity.ts';
import type { Call } from './call.ts';
import type { GatewayError } from './errors.ts';
import type { Route } from './routes.ts';

/** One request on its way: each step adds what it found out, and no later step works it out again. */
export interface GatewayRequest {
  /** The opaque id by which client and operator speak of this request. */
  readonly id: string;
  readonly route: Route;
  /** By lower-case name. */
  readonly headers: Call['headers'];
  readonly bodySize: Call['bodySize'];
  readonly dropBody: Call['dropBody'];
  readonly takeBody: Call['takeBody'];
  readonly room: Call['room'];
  /** The caller's network, as a keyed hash. */
  readonly networkId: string;
  readonly startedAt: number;
  /** When the answer must be over. */
  readonly deadline: number;
  /** Where a client's going away is signalled at all: not behind a Function URL. */
  readonly clientGone: AbortSignal | undefined;
  /** Where the process may be told to stop: aborts with the error that the answer then ends with. */
  readonly cutShort: AbortSignal | undefined;
  /** Whether it is the first that its environment serves. */
  readonly coldStart: boolean;
  /** Added by authenticate. */
  identity?: Identity;
  /** The member as the log names it. Added by authenticate. */
  memberHash?: string;
  /** Added by charge-quota. */
  charge?: Charge;
  /** Added by limit-deployment. */
  limitsUsed?: LimitsUsed;
  /** Added by quota-headers. */
  figures?: Figures | undefined;
  /** Added by normalize. */
  call?: InferenceCall;
  /** Added by normalize; taken by the exchange, so that the text goes when it is no longer needed. */
  outgoing?: Outgoing | undefined;
  /** Added by the exchange, for the operator. */
  exchange?: ExchangeRecord;
  /** How the request ended, where it is not its answer's own end; added by whoever ends it. */
  end?: 'refused' | 'failed' | 'client_gone';
  /** The error that it ended with. */
  error?: GatewayError;
  /** Whether the charge was given back; added where it should be. */
  refunded?: boolean;
}

/** What became of a request between gateway and upstream. */
export interface ExchangeRecord {
  tries: number;
  /** The upstream that was tried last, by the prefix of its settings. */
  upstream?: string;
  /** What that upstream answered, where it failed. */
  upstreamStatus?: number | undefined;
  /** The class of the failure that the request ended with. */
  failure?: string;
  /** Milliseconds until the first event of a stream. */
  timeToFirstByte?: number;
  /** Tokens as the upstream counted them. */
  readonly usage: { -readonly [Kind in keyof TokenCounts]: TokenCounts[Kind] };
}

/** What a client wants of a model. */
export interface InferenceCall extends Question {
  readonly endpoint: Endpoint;
  readonly model: PublicModel;
  readonly stream: boolean;
  /** Whether the body refers to things that only the upstream could hold. */
  readonly hasReferences: boolean;
}

/** The body, ready to be sent: all of a request that keeps its text in memory. */
export interface Outgoing {
  /** The body for an upstream that calls the model by this id: in pieces, all else as it came. */
  bodyFor(upstreamModel: string): readonly string[];
  /** The conversation that this is a turn of. */
  readonly conversation: Conversation;
  /** Whether the body brings back what only the account that made it can read; worked out anew each time. */
  isAccountBound(): boolean;
}

export interface GatewayResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable;
}
