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

/** One request as it arrives. Each step of its pipeline adds what it finds, and no later step works it out again. */
export interface Arrived extends Omit<IncomingRequest, 'host' | 'sourceAddress' | 'timeLeft' | 'health'> {
  /** The opaque id by which client and operator identify this request. */
  readonly id: string;
  readonly route: Route;
  /** The caller's network, as a keyed hash. */
  readonly networkId: string;
  /** The caller's trace, if it names one. */
  readonly trace: Trace | undefined;
  readonly startedAt: number;
  /** When the answer must be over. */
  readonly deadline: number;
  /** Whether this is the first request of its environment. */
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
  /** The bytes of the body as it came. */
  readonly size: number;
  /** How the body is encoded. */
  readonly encoding: Encoding | 'identity';
}

/** Added by `authenticate`. */
export interface Identified {
  readonly identity: Identity;
  /** The member as the log names it. */
  readonly memberHash: string | undefined;
}

/** Added by `chargeQuota`, and `limitDeployment`. */
export interface Charged {
  /** Undefined at an endpoint that is free. */
  readonly charge: Charge | undefined;
  readonly limitsUsed?: LimitsUsed;
}

/** Added by `startReading`, for callers whose key is known. */
export interface ReadingStarted {
  /** What the body asks for. Rejects with why it can't be sent. */
  readonly ahead?: Promise<Normalized>;
  /** What the request may cost; absent for a caller without a budget. */
  readonly cost?: Cost;
}

/** Added by `normalize`. */
export interface Normalized {
  readonly parsed: ParsedRequest;
  readonly outgoing: UpstreamRequest;
  /** The tokens of the prompt by its bytes, for an answer that does not count them; set only where the model has prices. */
  readonly inputTokens?: number;
  /** Of a caller with a budget. */
  readonly reservation?: Reservation;
}

/** A request wherever it got to: for the steps' last words, the log and the metrics. */
export type RequestSoFar = Arrived & Partial<Admitted & Identified & ReadingStarted & Charged & Normalized>;

/** A step of the gateway: what it needs of a request, and what it adds to it. */
export type GatewayStep<Needs, Adds extends object = object> = Step<Needs, Adds, RequestSoFar>;

/** Answers a request, also after an error. */
export type Answer<Start extends Arrived = Arrived> = (request: Start) => Promise<GatewayResponse>;

/** What becomes of a request, noted down by whoever finds out. */
export interface Outcome {
  /** What its answer says of the caller's quota. */
  snapshot?: QuotaSnapshot | undefined;
  /** Whether the charge was refunded; set only if a refund was due. */
  refunded?: boolean;
  /** How the request ended, unless its answer was completed. */
  end?: 'refused' | 'failed' | 'client_gone';
  /** The error that it ended with. */
  error?: GatewayError | undefined;
  /** What its answer cost, where there are prices. */
  spending?: Spending;
  /** How much of the day's spending limit was spent when the request came, in percent. */
  spendShare?: number;
  /** Present once it went upstream. */
  attempt?: AttemptRecord;
}

/** In micros. */
export interface Spending {
  readonly cost: number;
  /** Below 0 where writing to a cache cost more than reading from it saved. */
  readonly savedByCaches: number;
  /** The tokens that this is for; absent if nothing was used. */
  readonly used?: UsedTokens;
}

/** The exchange with the upstream, for the operator's log. */
export interface AttemptRecord {
  tries: number;
  /** The upstream that was tried last, by the prefix of its settings. */
  upstream?: string;
  /** The status of that upstream's answer, if it failed. */
  upstreamStatus?: number | undefined;
  /** The class of the failure that the request ended with. */
  failure?: string;
  /** Whether the request was translated for that upstream, and the places of what was left out then. */
  translated?: boolean;
  /** Whether it was asked again without the model's thoughts, as it had refused them. */
  thoughtsRefused?: boolean;
  leftOut?: string | undefined;
  leftOutForLog?: string | undefined;
  /** Milliseconds until the first event of a stream. */
  timeToFirstByte?: number;
  /** The bytes of generated text and reasoning that have come; where there are prices, also of the arguments of calls. */
  textBytes?: number;
  /** Whether the answer was read to its end. */
  isWhole?: boolean;
  /** Tokens as the upstream counted them. */
  readonly usage: Usage;
}

/** A client's request to a model. */
export interface ParsedRequest extends AnswerFormat {
  readonly endpoint: Endpoint;
  readonly model: PublicModel;
  readonly stream: boolean;
  /** Whether the body refers to stored items, which only the upstream can have. */
  readonly hasReferences: boolean;
}
