/** What an error code stands for. */
interface Entry {
  readonly status: number;
  readonly nature: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the gateway or its store has failed, which raises an alarm. */
  readonly ownFault?: true;
}

/** SDKs and agents retry a 401, 429 or 503 for minutes unless this header tells them not to. */
const noRetry = { 'x-should-retry': 'false' } as const;

/** The supported encodings of request bodies, besides `identity`. */
export const encodings = ['gzip', 'deflate', 'br', 'zstd'] as const;

// Marked as pure so that tree shaking drops the catalogue from the canary's bundle.
const acceptedEncodings = /* @__PURE__ */ ['identity', ...encodings].join(', ');

/** Every error that a client can get. */
export const catalogue = {
  invalid_request: { status: 400, nature: 'request' },
  invalid_model: { status: 400, nature: 'request' },
  missing_api_key: { status: 401, nature: 'caller', headers: noRetry },
  invalid_api_key: { status: 401, nature: 'caller', headers: noRetry },
  model_not_allowed: { status: 403, nature: 'permission' },
  model_not_found: { status: 404, nature: 'missing' },
  not_found: { status: 404, nature: 'missing' },
  method_not_allowed: { status: 405, nature: 'request' },
  request_too_large: { status: 413, nature: 'size' },
  unsupported_encoding: { status: 415, nature: 'request', headers: { 'accept-encoding': acceptedEncodings } },
  upgrade_required: { status: 426, nature: 'request' },
  rate_limited: { status: 429, nature: 'rate' },
  quota_exceeded: { status: 429, nature: 'quota', headers: noRetry },
  internal_error: { status: 500, nature: 'server', ownFault: true },
  upstream_error: { status: 502, nature: 'server' },
  unconfigured: { status: 503, nature: 'server', headers: noRetry },
  service_unavailable: { status: 503, nature: 'overload', headers: { 'retry-after': '1' }, ownFault: true },
  upstream_timeout: { status: 504, nature: 'time' },
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof catalogue;

/** The kinds of errors that dialects tell apart, each with an error type of its own. */
export type ErrorNature = (typeof catalogue)[ErrorCode]['nature'];

/** Where an error comes from, if that matters later: a failed store is not asked again, and a process that is stopping doesn't wait. */
type ErrorSource = 'store' | 'process';

export interface ErrorOptions {
  /** What the client can do about it. Ends the message. */
  readonly advice?: string | undefined;
  /** Overrides the catalogue's status, such as with an upstream's own 4xx or 5xx. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Machine-readable details, for the few errors that a client can act on. */
  readonly details?: Readonly<Record<string, string>> | undefined;
  /** Whether the charge is refunded. */
  readonly refund?: boolean;
  readonly source?: ErrorSource | undefined;
  /** The code in an OpenAI body, if clients act on one that is not in the catalogue. */
  readonly shownCode?: string | undefined;
  /** What happened, in one word, for the log and the metrics. */
  readonly reason?: string | undefined;
  /** The underlying error: logged, never shown. */
  readonly cause?: unknown;
}

/** The only kind of error that reaches a client. Anything else that is thrown becomes `internal_error`. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  /** The message without its advice. */
  readonly fault: string;
  readonly advice: string | undefined;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: Readonly<Record<string, string>> | undefined;
  readonly refund: boolean;
  readonly source: ErrorSource | undefined;
  readonly reason: string | undefined;
  readonly shownCode: string | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(joinSentences(message, options.advice), { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.fault = message;
    this.advice = options.advice;
    const entry: Entry = catalogue[code];
    this.status = options.status ?? entry.status;
    this.headers = { ...entry.headers, ...options.headers };
    this.details = options.details;
    this.refund = options.refund ?? false;
    this.source = options.source;
    this.reason = options.reason;
    this.shownCode = options.shownCode;
  }

  /** The same error with one more sentence before the advice, such as whether the charge was refunded. */
  withNote(note: string | undefined): GatewayError {
    if (note === undefined) return this;
    return new GatewayError(this.code, joinSentences(this.fault, note), { ...this, cause: this.cause });
  }

  /** The same error, with a refund of the charge. */
  refunded(): GatewayError {
    return new GatewayError(this.code, this.fault, { ...this, cause: this.cause, refund: true });
  }

  /** Status 529 is an upstream's way to say that it is overloaded. */
  get nature(): ErrorNature {
    return this.status === 529 ? 'overload' : catalogue[this.code].nature;
  }
}

/** The error of a request that a process can't accept or finish because it is shutting down. */
export function stopping(): GatewayError {
  const message = 'The gateway is being restarted. Please send the request again.';
  return new GatewayError('service_unavailable', message, { source: 'process', reason: 'stopping' });
}

/** Turns anything thrown into a GatewayError. An unknown error becomes its `cause`, which is logged and never shown. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('internal_error', 'Something went wrong inside the gateway.', {
    advice: 'Please try again.',
    refund: true,
    cause: thrown,
  });
}

function joinSentences(text: string, more: string | undefined): string {
  if (more === undefined) return text;
  return `${/[.!?。！？][)"'`]?$/.test(text) ? text : `${text}.`} ${more}`;
}
