import type { Readable } from 'node:stream';
import type { Endpoint, Question, TokenCounts } from '../dialects/dialect.ts';
import type { Credential } from '../identity/credentials.ts';
import type { Identity } from '../identity/identity.ts';
import type { PublicModel } from '../models.ts';
import type { Charge } from '../quota/charge.ts';
import type { LimitsUsed } from '../quota/deployment-limit.ts';
import type { Figures } from '../quota/refusal.ts';
import type { Conversation } from '../upstream/affinity.ts';
import type { Call } from './call.ts';
import type { Encoding } from './decode-body.ts';
import type { GatewayError } from './errors.ts';
import type { Route } from './routes.ts';

/** One request on its way. Each step adds what it finds, and no later step works it out again. */
export interface GatewayRequest {
  /** The opaque id by which client and operator identify this request. */
  readonly id: string;
  readonly method: string;
  /** As the client sent it: for nobody but the terminal of a local gateway. */
  readonly path: string;
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
  /** Aborts when the client goes away. A Function URL does not report that. */
  readonly clientGone: AbortSignal | undefined;
  /** Aborts when the process stops, with the error that the answer must end with. */
  readonly cutShort: AbortSignal | undefined;
  /** Whether this is the first request of its environment. */
  readonly coldStart: boolean;
  /** Added by admit-body. */
  credential?: Credential;
  /** How the body is encoded. Added by admit-body. */
  encoding?: Encoding | 'identity' | undefined;
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
  /** Added by normalize; removed by the exchange, so that the text can be freed early. */
  outgoing?: Outgoing | undefined;
  /** Added by the exchange, for the operator. */
  exchange?: ExchangeRecord;
  /** How the request ended, unless its answer was completed. */
  end?: 'refused' | 'failed' | 'client_gone';
  /** The error that it ended with. */
  error?: GatewayError;
  /** Whether the charge was refunded; set only if a refund was due. */
  refunded?: boolean;
}

/** The exchange with the upstream, for the operator's log. */
export interface ExchangeRecord {
  tries: number;
  /** The upstream that was tried last, by the prefix of its settings. */
  upstream?: string;
  /** The status of that upstream's answer, if it failed. */
  upstreamStatus?: number | undefined;
  /** The class of the failure that the request ended with. */
  failure?: string;
  /** Milliseconds until the first event of a stream. */
  timeToFirstByte?: number;
  /** Tokens as the upstream counted them. */
  readonly usage: { -readonly [Kind in keyof TokenCounts]: TokenCounts[Kind] };
}

/** A client's request to a model. */
export interface InferenceCall extends Question {
  readonly endpoint: Endpoint;
  readonly model: PublicModel;
  readonly stream: boolean;
  /** Whether the body refers to stored items, which only the upstream can have. */
  readonly hasReferences: boolean;
}

/** The body, ready to be sent. Nothing else in a request keeps its text in memory. */
export interface Outgoing {
  /** The body with this model id, in pieces. */
  bodyFor(upstreamModel: string): readonly string[];
  /** The conversation that this request continues. */
  readonly conversation: Conversation;
  /** Whether the body contains what only the account that made it can read. Scans the body each time. */
  isAccountBound(): Promise<boolean>;
}

export interface GatewayResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable;
}
