import { type ErrorOptions, GatewayError } from '../errors.ts';

/** The errors that only this function has; all others are in the gateway's own catalogue. */
const statuses = {
  /** A request that another site's page has sent. */
  forbidden_origin: 403,
  /** The signature is not that of the account that the message names. */
  invalid_signature: 401,
  /** The signed message can't be used here and now. */
  invalid_sign_in: 401,
  invalid_session: 401,
  /** The company's sign-in knows the person, and the gateway's settings don't let them in. */
  not_allowed: 403,
  too_many_keys: 409,
  /** What a terminal is told: https://www.rfc-editor.org/rfc/rfc8628#section-3.5 */
  access_denied: 400,
  authorization_pending: 400,
  expired_token: 400,
  invalid_client: 400,
  invalid_grant: 400,
  slow_down: 400,
  unsupported_grant_type: 400,
} as const;

/** An error of this function's own. */
export function accountsError(
  code: keyof typeof statuses,
  message: string,
  options: Pick<ErrorOptions, 'cause' | 'reason'> = {},
): GatewayError {
  return new GatewayError('invalid_request', message, { ...options, status: statuses[code], shownCode: code });
}

/** The code that clients see. */
export const codeOf = ({ code, shownCode = code }: GatewayError): string => shownCode;

const isOf =
  (code: keyof typeof statuses) =>
  (error: unknown): error is GatewayError =>
    error instanceof GatewayError && error.shownCode === code;
export const isTooManyKeys = isOf('too_many_keys');
export const isNotSignedIn = isOf('invalid_session');

export const notSignedIn = () =>
  accountsError('invalid_session', 'You are not signed in, or your session is over. Please sign in again.');

/** The reason in the log if the company's sign-in or its settings are at fault, rather than the person. */
export const brokenSignIn = 'sign_in_broken';

/** For what members of another way have. */
export const nothingOfThisKind = () => new GatewayError('not_found', 'Your account has nothing of this kind.');

export function badRequest(message: string, status = 400): GatewayError {
  return new GatewayError('invalid_request', message, { status });
}
