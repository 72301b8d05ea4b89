import { type ErrorOptions, GatewayError } from '../errors.ts';

/** Errors that only the account pages have. All others are in the gateway's catalogue. */
const statuses = {
  /** A cross-site request. */
  forbidden_origin: 403,
  /** Signed by another account than the one in the message. */
  invalid_signature: 401,
  /** The signed message or the OIDC response is expired, used, or not for this site. */
  invalid_sign_in: 401,
  invalid_session: 401,
  /** Signed in with OIDC, but not on the allow-lists. */
  not_allowed: 403,
  too_many_keys: 409,
  /** For the device flow: https://www.rfc-editor.org/rfc/rfc8628#section-3.5 */
  access_denied: 400,
  authorization_pending: 400,
  expired_token: 400,
  invalid_client: 400,
  invalid_grant: 400,
  slow_down: 400,
  unsupported_grant_type: 400,
} as const;

/** An error that only the account pages have. */
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

/** The reason in the log if the OIDC provider or its settings are at fault, rather than the person. */
export const brokenSignIn = 'sign_in_broken';

/** For endpoints that are only for members with another way to sign in. */
export const nothingOfThisKind = () => new GatewayError('not_found', 'Your account has nothing of this kind.');

export function badRequest(message: string, status = 400): GatewayError {
  return new GatewayError('invalid_request', message, { status });
}
