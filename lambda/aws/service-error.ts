interface ServiceErrorOptions {
  /** Of the answer; absent if none came. */
  readonly status?: number;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
  readonly wasClosed?: boolean;
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
  /** The connection had been used before, and was closed before anything came: perhaps long ago. */
  readonly wasClosed: boolean;

  constructor(
    name: string,
    message: string,
    { status, details = {}, cause, wasClosed = false }: ServiceErrorOptions = {},
  ) {
    super(message, { cause });
    this.name = name;
    this.$metadata = { httpStatusCode: status };
    this.code = Error.isError(cause) && 'code' in cause ? String(cause.code) : undefined;
    this.details = details;
    this.wasClosed = wasClosed;
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
  if (status === undefined || status >= 500 || isAboutTime(error)) return true;
  return /Throttl|ThroughputExceeded|RequestLimitExceeded/.test(error.name);
}

/** Whether a signature was refused for its time. */
export function isAboutTime({ name, message }: Pick<ExchangeFailure, 'name' | 'message'>): boolean {
  if (name !== 'InvalidSignatureException') return /TooSkewed|RequestExpired|InTheFuture/.test(name);
  return /Signature (expired|not yet current)/.test(message);
}

/** Whether a call may have been carried out although no answer says so. Without a connection nothing was sent. */
export function mayBeDone(error: unknown): boolean {
  if (!isExchangeFailure(error)) return false;
  const { httpStatusCode: status } = error.$metadata;
  if (error.inDoubt) return true;
  return status === undefined ? !/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/.test(String(error.code)) : status >= 500;
}

/** Whether a write was refused for its condition. The item says whether a copy of it came before. */
export function isConditionFailure(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.name === 'ConditionalCheckFailedException';
}

/** Errors after a request was sent have `$metadata`; a mistake in the call itself has none. */
function isExchangeFailure(error: unknown): error is ExchangeFailure {
  return typeof error === 'object' && error !== null && '$metadata' in error;
}
