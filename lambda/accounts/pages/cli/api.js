import { Problem } from './messages.js';

/** @typedef {import('../../answers.ts').Info} Info */
/** @typedef {import('../../answers.ts').Account} Account */

/** @returns {Promise<Info>} */
export const readInfo = () => call('info');

/**
 * @param {{ address: string, chainId: number, purpose: string }} account
 * @returns {Promise<{ message: string }>}
 */
export const askForMessage = (account) => call('challenge', account);

/**
 * @param {'link' | 'manage' | 'terminal'} purpose
 * @param {{ message: string, signature: string, label: string }} signed
 * @returns {Promise<Account>}
 */
export const signIn = (purpose, signed) => call(purpose === 'link' ? 'link' : 'sign-in', { ...signed, purpose });

/**
 * @param {{ state: string, nonce: string, challenge: string }} made
 * @returns {Promise<{ url: string }>}
 */
export const beginCompanySignIn = (made) => call('oidc/begin', made);

/**
 * @param {{ state: string, nonce: string, verifier: string, answer: string }} returned
 * @returns {Promise<Account>}
 */
export const redeemCompanySignIn = (returned) => call('oidc/redeem', returned);

/**
 * What a person may ask who has signed.
 * @param {string} token
 * @param {'keys' | 'keys/issue' | 'keys/revoke' | 'keys/renew' | 'network'} path
 * @param {object} body
 * @returns {Promise<Account>}
 */
export const ask = (token, path, body = {}) => call(path, body, { authorization: `Bearer ${token}` });

/**
 * Finds a terminal that waits.
 * @param {string} code
 * @returns {Promise<{ sameNetwork: boolean, age: number }>} whether it is on this browser's network; seconds since it asked
 */
export const findTerminal = (code) => call('device/find', { code });

/**
 * Lets it in, or refuses it.
 * @param {string} token
 * @param {'approve' | 'deny'} decision
 * @param {string} code
 */
export const decideTerminal = (token, decision, code) =>
  call(`device/${decision}`, { code }, { authorization: `Bearer ${token}` });

/** The function's own limit, in milliseconds: later no answer comes. */
const patience = 30_000;

/**
 * @param {string} path
 * @param {object} [body]
 * @param {Record<string, string>} [headers]
 */
async function call(path, body, headers = {}) {
  const post = body && {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
  const signal = AbortSignal.timeout(patience);
  const unreachable = () => {
    throw new Problem('The gateway can’t be reached. Are you online? Try again.', 'unreachable');
  };
  const response = await fetch(new URL(path, import.meta.url), { ...post, signal }).catch(unreachable);
  const answer = await response.json().catch(response.ok ? unreachable : () => ({}));
  if (response.ok) return answer;
  const { message = 'Something went wrong. Please try again.', code = 'unknown' } = answer.error ?? {};
  throw new Problem(message, code);
}
