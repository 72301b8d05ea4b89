import type { Readable } from 'node:stream';
import type { Dialect, Endpoint } from './dialects/dialect.ts';
import type { Identity } from './identity/identity.ts';
import type { PublicModel } from './models.ts';
import type { Charge } from './quota/charge.ts';
import type { Figures } from './quota/refusal.ts';
import type { Route } from './routes.ts';

/** One request on its way: each step adds what it found out, and no later step works it out again. */
export interface GatewayRequest {
  /** The opaque id by which client and operator speak of this request. */
  readonly id: string;
  readonly route: Route;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string | undefined;
  readonly bodyIsBase64: boolean;
  /** The caller's network, as a keyed hash. */
  readonly networkId: string;
  readonly startedAt: number;
  /** When the answer must be over. */
  readonly deadline: number;
  /** Where a client's going away is signalled at all: locally, not on Lambda. */
  readonly clientGone: AbortSignal | undefined;
  /** Added by authenticate. */
  identity?: Identity;
  /** Added by charge-quota. */
  charge?: Charge;
  /** Added by quota-headers. */
  figures?: Figures | undefined;
  /** Added by normalize. */
  call?: InferenceCall;
}

/** What a client wants of a model, ready to be sent. */
export interface InferenceCall {
  readonly dialect: Dialect;
  readonly endpoint: Endpoint;
  readonly model: PublicModel;
  readonly stream: boolean;
  /** The body for an upstream that calls the model by this id: in pieces, all else as it came. */
  bodyFor(upstreamModel: string): readonly string[];
  /** Whether the body refers to things that only the upstream could hold. */
  readonly hasReferences: boolean;
}

export interface GatewayResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable;
}
