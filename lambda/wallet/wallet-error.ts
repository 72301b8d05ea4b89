import { GatewayError, toGatewayError } from '../http/errors.ts';

/** The errors that only this function has; all others are in the gateway's own catalogue. */
const statuses = {
  /** A request that another site's page has sent. */
  forbidden_origin: 403,
  /** The signature is not that of the account that the message names. */
  invalid_signature: 401,
  /** The signed message can't be used here and now. */
  invalid_sign_in: 401,
  invalid_session: 401,
  too_many_keys: 409,
} as const;

export class WalletError extends Error {
  readonly code: keyof typeof statuses;
  readonly status: number;
  readonly headers = {};
  readonly reason = undefined;
  readonly nature = 'request';

  constructor(code: keyof typeof statuses, message: string) {
    super(message);
    this.name = 'WalletError';
    this.code = code;
    this.status = statuses[code];
  }
}

/** Turns anything thrown into an error that may be shown. */
export function toShownError(thrown: unknown): WalletError | GatewayError {
  return thrown instanceof WalletError ? thrown : toGatewayError(thrown);
}

export function badRequest(message: string, status = 400): GatewayError {
  return new GatewayError('invalid_request', message, { status });
}
