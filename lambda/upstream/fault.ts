import { type ErrorCode, type ErrorOptions, GatewayError } from '../errors.ts';
import { JsonFault, JsonLimit } from '../json/tokens.ts';
import { type FailureDetails, type FailureKind, UpstreamFailure } from './failure.ts';

/** An error as plain data, because error classes don't survive `postMessage` between threads. */
export type Fault =
  | { readonly kind: 'gateway'; readonly code: ErrorCode; readonly message: string; readonly options: ErrorOptions }
  | { readonly kind: 'upstream'; readonly failure: FailureKind; readonly details: FailureDetails }
  | { readonly kind: 'json'; readonly message: string; readonly isLimit: boolean }
  | { readonly kind: 'other'; readonly cause: unknown };

export function toFault(thrown: unknown): Fault {
  if (thrown instanceof UpstreamFailure) {
    const { kind, fault, upstreamStatus, retryAfter, shownCode, failureClass, refund, cause } = thrown;
    const charged = !refund && !failureClass.staysCharged;
    const details = { message: fault, status: upstreamStatus, retryAfter, shownCode, charged, cause: causeOf(cause) };
    return { kind: 'upstream', failure: kind, details };
  }
  if (thrown instanceof GatewayError) {
    const { code, fault, advice, status, headers, details, refund, source, reason, shownCode } = thrown;
    const options = {
      advice,
      status,
      headers,
      details,
      refund,
      source,
      reason,
      shownCode,
      cause: causeOf(thrown.cause),
    };
    return { kind: 'gateway', code, message: fault, options };
  }
  if (thrown instanceof JsonFault) {
    return { kind: 'json', message: thrown.message, isLimit: thrown instanceof JsonLimit };
  }
  return { kind: 'other', cause: causeOf(thrown) };
}

export function fromFault(fault: Fault): unknown {
  if (fault.kind === 'upstream') return new UpstreamFailure(fault.failure, fault.details);
  if (fault.kind === 'gateway') return new GatewayError(fault.code, fault.message, fault.options);
  if (fault.kind === 'json') return new (fault.isLimit ? JsonLimit : JsonFault)(fault.message);
  return fault.cause;
}

/** Only the parts of an error that are logged. */
function causeOf(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown === undefined ? undefined : String(thrown);
  const { name, message, stack } = thrown;
  return Object.assign(new Error(message), { name, stack });
}
