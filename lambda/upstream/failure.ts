import { type ErrorCode, GatewayError } from '../errors.ts';
import { TooMuchWork } from '../jobs/jobs.ts';
import { JsonLimit } from '../json/tokens.ts';

export interface FailureClass {
  /** The upstream's statuses of this class. `classifyStatus` sorts all others by their hundreds. */
  readonly statuses?: readonly number[];
  readonly code: ErrorCode;
  /** Whether the client sees the upstream's own status instead of the code's. */
  readonly ownStatus?: boolean;
  /** Whether the request stays charged. */
  readonly staysCharged?: boolean;
  /** Where to fail over to while nothing has gone out: the next key (after the last, the next upstream's first) or the next upstream. */
  readonly next?: 'key' | 'upstream';
  /** Whether to fail over only once per request: the caller may have provoked it, and could otherwise go through all keys. */
  readonly once?: boolean;
  /** Whether the key rests (cools down) before it is used again. */
  readonly rests?: boolean;
  /** Whether the key rests once several callers have met this within some minutes: a single one may have provoked it. */
  readonly restsForSeveral?: boolean;
  /** Whether the caller can fix it. Then the client gets the upstream's own message, without names. */
  readonly callerCanFix?: boolean;
  /** Whether the cause may be data in the body that only another provider account can read. */
  readonly mayBeForeign?: boolean;
  /** The message for the client, unless it gets the upstream's own. */
  readonly message?: string;
  /** What the client can do about it. */
  readonly advice?: string;
}

const noAnswer = 'The model did not answer in time.';
const tryAgain = 'Please try again.';
const operator = 'If it happens again, tell the operator the request id.';

/** Every way in which an upstream can fail a request, and what follows. docs/failures.md explains each. */
export const failureClasses = {
  unreachable: {
    code: 'upstream_error',
    next: 'upstream',
    message: 'The model could not be reached.',
    advice: tryAgain,
  },
  connect_timeout: {
    code: 'upstream_timeout',
    next: 'upstream',
    message: 'The model did not accept the connection in time.',
    advice: tryAgain,
  },
  timeout: {
    code: 'upstream_timeout',
    message: noAnswer,
    advice: 'Please try again, with a shorter request if it happens again.',
  },
  late: {
    code: 'upstream_timeout',
    next: 'key',
    restsForSeveral: true,
    message: 'The model did not begin to answer in time.',
    advice: tryAgain,
  },
  upstream_timeout: {
    statuses: [408],
    code: 'upstream_timeout',
    message: noAnswer,
    advice: tryAgain,
  },
  credentials: {
    statuses: [401, 402],
    code: 'upstream_error',
    next: 'key',
    rests: true,
    message: 'The gateway could not get access to the model.',
    advice: operator,
  },
  forbidden: {
    statuses: [403],
    code: 'upstream_error',
    next: 'key',
    once: true,
    message: 'The model refused this request.',
    advice: operator,
  },
  missing: {
    statuses: [404],
    code: 'upstream_error',
    message: 'The gateway did not find the model.',
    advice: operator,
  },
  limited: {
    statuses: [429],
    code: 'service_unavailable',
    next: 'key',
    rests: true,
    message: 'The model is busy.',
    advice: 'Please try again in a moment.',
  },
  server_error: {
    code: 'upstream_error',
    ownStatus: true,
    next: 'upstream',
    message: 'The model failed to answer.',
    advice: tryAgain,
  },
  unusable: {
    code: 'upstream_error',
    message: "The model gave an answer that can't be used.",
    advice: tryAgain,
  },
  reported: {
    code: 'upstream_error',
    message: 'The model failed while answering.',
    advice: tryAgain,
  },
  cut: {
    code: 'upstream_error',
    message: 'The answer broke off before its end.',
    advice: tryAgain,
  },
  stalled: {
    code: 'upstream_timeout',
    message: 'The answer stopped coming.',
    advice: tryAgain,
  },
  deadline: {
    code: 'upstream_timeout',
    staysCharged: true,
    message: 'The answer took longer than one request may take.',
    advice: 'Ask for a shorter one.',
  },
  too_large: {
    statuses: [413],
    code: 'request_too_large',
    staysCharged: true,
    callerCanFix: true,
  },
  caller: {
    code: 'invalid_request',
    ownStatus: true,
    staysCharged: true,
    callerCanFix: true,
    mayBeForeign: true,
  },
} as const satisfies Record<string, FailureClass>;

export type FailureKind = keyof typeof failureClasses;

export interface FailureDetails {
  /** The upstream's own status. */
  readonly status?: number | undefined;
  /** The seconds to wait, according to the upstream. */
  readonly retryAfter?: number | undefined;
  /** Whether clients should retry automatically, according to the upstream. */
  readonly shouldRetry?: 'true' | 'false' | undefined;
  /** The upstream's own message, already without names. */
  readonly message?: string | undefined;
  /** The code that the client sees instead of the class's. */
  readonly shownCode?: string | undefined;
  /** Whether the upstream refused the request because of the reasoning in it. */
  readonly refusesReasoning?: boolean;
  /** Whether the request stays charged although its class is refunded, because the caller may have provoked the failure. */
  readonly charged?: boolean;
  readonly cause?: unknown;
}

/** A failure of the upstream: the error for the client, and what the gateway does next. */
export class UpstreamFailure extends GatewayError {
  readonly kind: FailureKind;
  readonly upstreamStatus: number | undefined;
  readonly retryAfter: number | undefined;
  readonly refusesReasoning: boolean;

  constructor(kind: FailureKind, details: FailureDetails = {}) {
    const failure: FailureClass = failureClasses[kind];
    const { retryAfter = 0 } = details;
    const waits = failure.advice !== undefined && failure.advice !== operator && retryAfter > 0;
    super(failure.code, details.message || failure.message || 'The model refused this request.', {
      advice: waits ? `Please try again in ${retryAfter} s.` : failure.advice,
      ...(failure.ownStatus && details.status !== undefined && { status: details.status }),
      headers: {
        ...(details.retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
        ...(details.shouldRetry !== undefined && { 'x-should-retry': details.shouldRetry }),
      },
      refund: !failure.staysCharged && !details.charged,
      reason: kind,
      shownCode: details.shownCode,
      cause: details.cause,
    });
    this.name = 'UpstreamFailure';
    this.kind = kind;
    this.upstreamStatus = details.status;
    this.retryAfter = details.retryAfter;
    this.refusesReasoning = details.refusesReasoning ?? false;
  }

  get failureClass(): FailureClass {
    return failureClasses[this.kind];
  }
}

/** The failure class of a status; undefined for a success. */
export function classifyStatus(status: number): FailureKind | undefined {
  if (status >= 200 && status < 300) return undefined;
  for (const [kind, { statuses }] of Object.entries<FailureClass>(failureClasses)) {
    if (statuses?.includes(status)) return kind as FailureKind;
  }
  if (status >= 500 && status <= 599) return 'server_error';
  return status >= 400 && status < 500 ? 'caller' : 'unusable';
}

/** Whether an answer exceeds a limit of the gateway. A caller can provoke that by what it asks the model to write. */
export const isOverLimit = (cause: unknown): boolean =>
  [RangeError, JsonLimit, TooMuchWork].some((limit) => cause instanceof limit);
