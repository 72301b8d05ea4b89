import type { Reservation } from '../budget/estimate.ts';
import type { AnswerFormat, Endpoint } from '../dialects/dialect.ts';
import type { Usage } from '../dialects/model/findings.ts';
import type { GatewayError } from '../errors.ts';
import type { Credential } from '../identity/credential.ts';
import type { Identity } from '../identity/identify.ts';
import type { Step } from '../pipeline.ts';
import type { LimitsUsed } from '../quota/deployment-limits.ts';
import type { Charge } from '../quota/quota.ts';
import type { Cost } from '../quota/refusal.ts';
import type { QuotaSnapshot } from '../quota/snapshot.ts';
import type { PublicModel } from '../settings/models.ts';
import type { UsedTokens } from '../store/counters.ts';
import type { UpstreamRequest } from '../upstream/upstream-request.ts';
import type { GatewayResponse, IncomingRequest } from './incoming-request.ts';
import type { Encoding } from './read-body-text.ts';
import type { InferenceRoute, Route } from './routes.ts';
import type { Trace } from './trace.ts';

/** A request as it arrives. Each step of its pipeline adds what it finds, so that no later step has to work it out again. */
export interface Arrived extends Omit<IncomingRequest, 'host' | 'sourceAddress' | 'timeLeft' | 'health'> {
  /** Opaque; identifies the request to the client and the operator. */
  readonly id: string;
  readonly route: Route;
  /** The caller's network, as a keyed hash. */
  readonly networkId: string;
  /** From the caller's `traceparent`, if it sent one. */
  readonly trace: Trace | undefined;
  readonly startedAt: number;
  /** When the response must have ended. */
  readonly deadline: number;
  /** Whether this is the first request of its process. */
  readonly coldStart: boolean;
  readonly outcome: Outcome;
}

/** A request to an inference endpoint. */
export interface ArrivedAtInference extends Arrived {
  readonly route: InferenceRoute;
}

/** Added by `admitBody`. */
export interface Admitted {
  readonly credential: Credential;
  /** In bytes, as received. */
  readonly size: number;
  readonly encoding: Encoding | 'identity';
}

/** Added by `authenticate`. */
export interface Identified {
  readonly identity: Identity;
  /** How the log names the member. */
  readonly memberHash: string | undefined;
}

/** Added by `chargeQuota` and `limitDeployment`. */
export interface Charged {
  /** Undefined for a free endpoint. */
  readonly charge: Charge | undefined;
  readonly limitsUsed?: LimitsUsed;
}

/** Added by `startReading`, for callers with a known key. */
export interface ReadingStarted {
  /** Rejects with the reason why the body can't be sent. */
  readonly normalizing?: Promise<Normalized>;
  /** What the request may cost; absent for a caller without a budget. */
  readonly cost?: Cost;
}

/** Added by `normalize`. */
export interface Normalized {
  readonly parsed: ParsedRequest;
  readonly outgoing: UpstreamRequest;
  /** The prompt's tokens, estimated from its bytes, in case the upstream reports no usage. Set only if the model has prices. */
  readonly inputTokens?: number;
  /** Set only for a caller with a budget. */
  readonly reservation?: Reservation;
}

/** A request that may have failed at any step: what error handlers, the log and the metrics see. */
export type RequestSoFar = Arrived & Partial<Admitted & Identified & ReadingStarted & Charged & Normalized>;

/** A step of the gateway: what it needs from a request, and what it adds. */
export type GatewayStep<Needs, Adds extends object = object> = Step<Needs, Adds, RequestSoFar>;

/** Answers a request. Errors are rendered, not thrown. */
export type Answer<Start extends Arrived = Arrived> = (request: Start) => Promise<GatewayResponse>;

/** What became of a request. Mutable: each step records what it learns. */
export interface Outcome {
  /** For the quota headers. */
  snapshot?: QuotaSnapshot | undefined;
  /** Whether the refund succeeded; set only if one was due. */
  refunded?: boolean;
  /** How the request ended; absent if its answer was completed. */
  end?: 'refused' | 'failed' | 'client_gone';
  error?: GatewayError | undefined;
  /** What the answer cost, if there are prices. */
  spending?: Spending;
  /** How much of the daily spend limit was used when the request came, in percent. */
  spendShare?: number;
  /** Present once the request went upstream. */
  attempt?: AttemptRecord;
}

/** In micros. */
export interface Spending {
  readonly cost: number;
  /** What prompt caching saved. Below 0 if cache writes cost more than cache reads saved. */
  readonly savedByCaches: number;
  /** The tokens that were billed; absent if there were none. */
  readonly used?: UsedTokens;
}

/** What happened upstream, for the log and the metrics. */
export interface AttemptRecord {
  tries: number;
  /** The settings prefix of the last upstream tried. */
  upstream?: string;
  /** The status of that upstream's response, if it failed. */
  upstreamStatus?: number | undefined;
  /** The class of the failure that the request ended with. */
  failure?: string;
  /** Whether the request was translated for that upstream. `leftOut` then lists the paths of what got lost. */
  translated?: boolean;
  /** Whether the upstream refused the conversation's reasoning, and was asked again without it. */
  reasoningRefused?: boolean;
  leftOut?: string | undefined;
  leftOutForLog?: string | undefined;
  /** Milliseconds until the first event of a stream. */
  timeToFirstByte?: number;
  /** Bytes of generated text and reasoning so far; if there are prices, of tool arguments as well. */
  textBytes?: number;
  /** Whether the answer was read to its end. */
  isWhole?: boolean;
  /** The upstream's token counts. */
  readonly usage: Usage;
}

/** A client's request to a model. */
export interface ParsedRequest extends AnswerFormat {
  readonly endpoint: Endpoint;
  readonly model: PublicModel;
  readonly stream: boolean;
  /** Whether the body refers to items stored upstream. */
  readonly hasReferences: boolean;
}
