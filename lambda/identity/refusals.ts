import { GatewayError } from '../errors.ts';
import { type Credential, keyPlaces } from './credential.ts';

/** `appUrl` is where people get keys by themselves, if they can. */
const getKey = (appUrl: string | undefined): string =>
  appUrl === undefined ? 'Ask the operator for a key.' : `Get a key at ${appUrl}/cli.`;

export function refuseKey(isAnyKeyIssued: boolean, appUrl: string | undefined): GatewayError {
  return isAnyKeyIssued
    ? new GatewayError('invalid_api_key', `The API key is unknown, expired or revoked. ${getKey(appUrl)}`)
    : new GatewayError('unconfigured', `This deployment has not issued any keys yet. ${getKey(appUrl)}`);
}

export function refuseGuest(appUrl: string | undefined): GatewayError {
  const message = 'Guest access is switched off: a real API key is needed.';
  return new GatewayError('invalid_api_key', `${message} ${getKey(appUrl)}`);
}

/** Refuses a request that shows no key. */
export function refuseCredential(
  credential: Exclude<Credential, { readonly kind: 'key' | 'placeholder' }>,
  guestLimit: number,
  appUrl: string | undefined,
): GatewayError {
  if (credential.kind === 'wrapped key') {
    const example = 'such as a quotation mark or a second Bearer';
    return new GatewayError('invalid_api_key', `Something stands before the API key, ${example}. Send the key alone.`);
  }
  if (credential.notBearer) {
    const form = 'must have the word Bearer before the key, as in Authorization: Bearer KEY';
    return new GatewayError('missing_api_key', `No API key: the Authorization header ${form}.`);
  }
  const advice = guestLimit > 0 ? 'Guests may send any text.' : getKey(appUrl);
  return new GatewayError('missing_api_key', `No API key: send one in ${keyPlaces}. ${advice}`);
}
