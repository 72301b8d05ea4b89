interface Circumstances {
  /** Of the answer; absent where none came. */
  readonly status?: number;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
  readonly onKeptConnection?: boolean;
}

/** What went wrong with a call. Marked as the SDK marks its errors, so that one rule reads both. */
export class ServiceError extends Error {
  readonly $metadata: { readonly httpStatusCode: number | undefined };
  /** Of the connection's failure. */
  readonly code: string | undefined;
  /** What the service said besides its message. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Whether an earlier attempt at the same call may have been done: told by who makes them. */
  inDoubt = false;
  /** Nothing came over a connection that had been used before: the other side may have closed it long ago. */
  readonly onKeptConnection: boolean;

  constructor(
    name: string,
    message: string,
    { status, details = {}, cause, onKeptConnection = false }: Circumstances = {},
  ) {
    super(message, { cause });
    this.name = name;
    this.$metadata = { httpStatusCode: status };
    this.code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
    this.details = details;
    this.onKeptConnection = onKeptConnection;
  }
}

interface ExchangeFailure {
  readonly name: string;
  readonly message: string;
  readonly code?: string | undefined;
  readonly inDoubt?: boolean;
  readonly $metadata: { readonly httpStatusCode?: number | undefined };
}

/** Whether an answer failed to come, or came from a service in trouble; or the clock was wrong, which by now it is not. */
export function isTrouble(error: unknown): boolean {
  if (!isExchangeFailure(error)) return false;
  const { httpStatusCode: status } = error.$metadata;
  return status === undefined || status >= 500 || isThrottled(error) || isAboutTime(error);
}

export function isThrottled(error: unknown): boolean {
  return isExchangeFailure(error) && /Throttl|ThroughputExceeded|RequestLimitExceeded/.test(error.name);
}

/** Whether a signature was refused for the time that it names. */
export function isAboutTime(error: unknown): boolean {
  if (!isExchangeFailure(error)) return false;
  if (error.name !== 'InvalidSignatureException') return /TooSkewed|RequestExpired|InTheFuture/.test(error.name);
  return /Signature (expired|not yet current)/.test(error.message);
}

/** Whether a call may have been done although nobody heard so. Where there was no connection, nothing has been sent. */
export function mayBeDone(error: unknown): boolean {
  if (!isExchangeFailure(error)) return false;
  const { httpStatusCode: status } = error.$metadata;
  if (error.inDoubt) return true;
  return status === undefined ? !/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/.test(String(error.code)) : status >= 500;
}

/** Marked is whatever went wrong once a request was on its way; a mistake in asking is not. */
function isExchangeFailure(error: unknown): error is ExchangeFailure {
  return typeof error === 'object' && error !== null && '$metadata' in error;
}
