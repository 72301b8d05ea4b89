interface Circumstances {
  /** Of the answer; absent if none came. */
  readonly status?: number;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
  readonly onKeptConnection?: boolean;
}

/** A failed call. It has `$metadata` like the SDK's errors, so that the functions below read both. */
export class ServiceError extends Error {
  readonly $metadata: { readonly httpStatusCode: number | undefined };
  /** The code of the connection's failure. */
  readonly code: string | undefined;
  /** The rest of the service's answer. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Whether an earlier attempt at the same call may have been carried out; set by `createRepeat`. */
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

/** Whether no answer came, the service was in trouble, or the clock was wrong, which is corrected by now. */
export function isTrouble(error: unknown): boolean {
  if (!isExchangeFailure(error)) return false;
  const { httpStatusCode: status } = error.$metadata;
  return status === undefined || status >= 500 || isThrottled(error) || isAboutTime(error);
}

export function isThrottled(error: unknown): boolean {
  return isExchangeFailure(error) && /Throttl|ThroughputExceeded|RequestLimitExceeded/.test(error.name);
}

/** Whether a signature was refused for its time. */
export function isAboutTime(error: unknown): boolean {
  if (!isExchangeFailure(error)) return false;
  if (error.name !== 'InvalidSignatureException') return /TooSkewed|RequestExpired|InTheFuture/.test(error.name);
  return /Signature (expired|not yet current)/.test(error.message);
}

/** Whether a call may have been carried out although no answer says so. Without a connection nothing was sent. */
export function mayBeDone(error: unknown): boolean {
  if (!isExchangeFailure(error)) return false;
  const { httpStatusCode: status } = error.$metadata;
  if (error.inDoubt) return true;
  return status === undefined ? !/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/.test(String(error.code)) : status >= 500;
}

/** Errors after a request was sent have `$metadata`; a mistake in the call itself has none. */
function isExchangeFailure(error: unknown): error is ExchangeFailure {
  return typeof error === 'object' && error !== null && '$metadata' in error;
}
