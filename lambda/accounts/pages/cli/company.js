import { beginCompanySignIn, redeemCompanySignIn } from './api.js';
import { Problem } from './messages.js';

/** Where the tab keeps what it has made for a sign-in, until the provider sends it back here. */
const place = 'company-sign-in';

/** @typedef {{ state: string, nonce: string, verifier: string, page: string, code: string }} Begun */

/**
 * Sends the browser to the company's sign-in. It comes back to the page it left.
 * @param {string} page this page's address, relative to the callback's
 * @param {string} code the code of a terminal, which is typed before signing in
 */
export async function leaveForCompany(page, code = '') {
  const [state, nonce, verifier] = [random(), random(), random()];
  const challenge = toText(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)));
  const { url } = await beginCompanySignIn({ state, nonce, challenge });
  sessionStorage.setItem(place, JSON.stringify({ state, nonce, verifier, page, code }));
  location.assign(url);
}

/**
 * What the tab has begun, if the provider has just sent it back. It serves once.
 * @returns {{ begun: Begun, answer: string } | undefined}
 */
export function takeReturn() {
  const answer = location.hash.slice(1);
  const kept = sessionStorage.getItem(place);
  sessionStorage.removeItem(place);
  if (answer === '') return undefined;
  // Neither the history nor a reload shows the code again.
  history.replaceState(null, '', location.pathname);
  const begun = kept === null ? undefined : /** @type {Begun} */ (JSON.parse(kept));
  // A sign-in that this tab did not begin is somebody else's.
  if (!begun || begun.state !== new URLSearchParams(answer).get('state')) {
    throw new Problem('That sign-in was not begun in this tab. Please sign in here.', 'foreign_sign_in');
  }
  return { begun, answer };
}

/**
 * The account of whoever has signed in.
 * @param {{ begun: Begun, answer: string }} returned
 */
export function finishCompanySignIn({ begun: { state, nonce, verifier }, answer }) {
  return redeemCompanySignIn({ state, nonce, verifier, answer });
}

/** 256 random bits. */
const random = () => toText(crypto.getRandomValues(new Uint8Array(32)).buffer);

/** In base64url. */
function toText(/** @type {ArrayBufferLike} */ bytes) {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
