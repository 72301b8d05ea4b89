/** What one error code means to a client: its status, its name in both error shapes, and the headers it brings along. */
interface Entry {
  readonly status: number;
  readonly openaiType: string;
  readonly messagesType: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const invalidRequest = { openaiType: 'invalid_request_error', messagesType: 'invalid_request_error' } as const;
const authentication = { openaiType: 'invalid_request_error', messagesType: 'authentication_error' } as const;
const notFound = { openaiType: 'invalid_request_error', messagesType: 'not_found_error' } as const;
const server = { openaiType: 'server_error', messagesType: 'api_error' } as const;

/** SDKs and agents retry a 401, a 429 or a 503 for minutes unless this header tells them that it is no use. */
const noRetry = { 'x-should-retry': 'false' } as const;

/** What a request's body may come in. */
const acceptedEncodings = 'identity, gzip, deflate, br, zstd';

/** Every error that a client can meet. */
export const catalogue = {
  invalid_request: { status: 400, ...invalidRequest },
  invalid_model: { status: 400, ...invalidRequest },
  missing_api_key: { status: 401, ...authentication, headers: noRetry },
  invalid_api_key: { status: 401, ...authentication, headers: noRetry },
  model_not_found: { status: 404, ...notFound },
  not_found: { status: 404, ...notFound },
  method_not_allowed: { status: 405, ...invalidRequest },
  request_too_large: { status: 413, openaiType: 'invalid_request_error', messagesType: 'request_too_large' },
  unsupported_encoding: {
    status: 415,
    ...invalidRequest,
    headers: { 'accept-encoding': acceptedEncodings },
  },
  upgrade_required: { status: 426, ...invalidRequest },
  rate_limited: { status: 429, openaiType: 'rate_limit_error', messagesType: 'rate_limit_error' },
  quota_exceeded: {
    status: 429,
    openaiType: 'insufficient_quota',
    messagesType: 'rate_limit_error',
    headers: noRetry,
  },
  internal_error: { status: 500, ...server },
  upstream_error: { status: 502, ...server },
  unconfigured: { status: 503, ...server, headers: noRetry },
  service_unavailable: {
    status: 503,
    openaiType: 'server_error',
    messagesType: 'overloaded_error',
    headers: { 'retry-after': '1' },
  },
  upstream_timeout: { status: 504, openaiType: 'server_error', messagesType: 'timeout_error' },
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof catalogue;

export interface ErrorOptions {
  /** What the client can do about it: the end of the message. */
  readonly advice?: string | undefined;
  /** A status other than the catalogue's: an upstream's own 5xx or 4xx. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Machine-readable details, in the few cases where a client needs them to act. */
  readonly details?: Readonly<Record<string, string>> | undefined;
  /** Whether the request was the upstream's failure, so that its charge is given back. */
  readonly refund?: boolean;
  /** What happened, in one word for the log and the metrics. */
  readonly reason?: string | undefined;
  /** The real reason: logged, never shown. */
  readonly cause?: unknown;
}

/** The one error that reaches a client. Whatever else is thrown becomes `internal_error`. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  /** The message without its advice. */
  readonly fault: string;
  readonly advice: string | undefined;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: Readonly<Record<string, string>> | undefined;
  readonly refund: boolean;
  readonly reason: string | undefined;

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
    this.reason = options.reason;
  }

  /** The same error with one more sentence before the advice, such as what became of the charge. */
  withNote(note: string | undefined): GatewayError {
    if (note === undefined) return this;
    return new GatewayError(this.code, joinSentences(this.fault, note), { ...this, cause: this.cause });
  }

  /** The same error, of a request that is not to be charged. */
  refunded(): GatewayError {
    return new GatewayError(this.code, this.fault, { ...this, cause: this.cause, refund: true });
  }

  get openaiType(): string {
    return catalogue[this.code].openaiType;
  }

  get messagesType(): string {
    return this.status === 529 ? 'overloaded_error' : catalogue[this.code].messagesType;
  }
}

/** Turns anything thrown into a GatewayError; what is unknown keeps its cause for the log and shows nothing. */
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
  return `${/[.!?][)"'`]?$/.test(text) ? text : `${text}.`} ${more}`;
}
