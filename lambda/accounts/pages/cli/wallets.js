/**
 * @typedef {object} Provider EIP-1193
 * @property {(call: { method: string, params?: unknown[] }) => Promise<unknown>} request
 * @property {(event: string, listener: (value: unknown) => void) => void} [on]
 *
 * @typedef {object} Wallet EIP-6963
 * @property {Provider} provider
 * @property {{ uuid: string, name: string, icon?: unknown }} info
 */

import { askForMessage } from './api.js';
import { byId, create, onButton } from './element.js';
import { announce, Problem } from './messages.js';

/**
 * Lists the wallets of this browser, each once: those that announce themselves (EIP-6963), or else the one that took
 * `window.ethereum`. Says so where there is none.
 * @param {(wallet: Wallet) => void} onChosen
 * @param {(wallet: Wallet) => void} [onFound]
 */
export function listWallets(onChosen, onFound = () => {}) {
  const known = new Set();
  const add = (/** @type {unknown} */ found) => {
    if (!isWallet(found) || known.has(found.info.uuid)) return;
    known.add(found.info.uuid);
    const button = toButton(found.info);
    button.addEventListener('click', () => onChosen(found));
    byId('wallets').append(create('li', {}, button));
    if (document.activeElement === byId('look-again')) button.focus();
    byId('no-wallet').hidden = true;
    announce('');
    onFound(found);
  };
  window.addEventListener('eip6963:announceProvider', (event) => {
    add(/** @type {CustomEvent<unknown>} */ (event).detail);
  });
  const look = () => {
    window.dispatchEvent(new Event('eip6963:requestProvider'));
    // Wallets answer at once or, some, a moment later.
    setTimeout(() => {
      if (known.size > 0) return;
      add({ provider: Reflect.get(window, 'ethereum'), info: { uuid: 'injected', name: 'Browser wallet' } });
      if (known.size > 0) return;
      announce(byId('no-wallet').hidden ? '' : 'There is still none.');
      byId('no-wallet').hidden = false;
    }, 200);
  };
  onButton('look-again', () => {
    announce('Looking for wallets…');
    look();
  });
  look();
}

/** @param {Wallet['info']} info */
function toButton({ name, icon }) {
  const isPicture = typeof icon === 'string' && icon.startsWith('data:image/');
  const image = isPicture ? [create('img', { src: icon, alt: '', width: '28', height: '28' })] : [];
  return create('button', { type: 'button' }, ...image, create('span', {}, name));
}

/**
 * Anyone may announce anything.
 * @param {unknown} found
 * @returns {found is Wallet}
 */
function isWallet(found) {
  const { info, provider } = /** @type {Partial<Wallet>} */ (found ?? {});
  return typeof info?.uuid === 'string' && typeof info.name === 'string' && typeof provider?.request === 'function';
}

/**
 * Asks the wallet for an account.
 * @param {Wallet} wallet
 */
export async function connect({ provider, info: { name } }) {
  const address = firstOf(await request(provider, name, 'eth_requestAccounts'));
  if (address === undefined) throw new Problem(`${name} showed no account. Is it unlocked?`);
  return address;
}

/**
 * Reports when another account is chosen in the wallet; undefined for none.
 * @param {Wallet} wallet
 * @param {(address: string | undefined) => void} onChosen
 */
export function watchAccount({ provider }, onChosen) {
  provider.on?.('accountsChanged', (accounts) => onChosen(firstOf(accounts)));
}

/** @param {unknown} accounts */
const firstOf = (accounts) => (Array.isArray(accounts) && typeof accounts[0] === 'string' ? accounts[0] : undefined);

/**
 * Asks for a message, on the chain that the wallet is on now, and asks the wallet to sign it.
 * @param {Wallet} wallet
 * @param {string} address
 * @param {'link' | 'manage' | 'terminal'} purpose
 */
export async function sign({ provider, info: { name } }, address, purpose) {
  const chainId = Number(await request(provider, name, 'eth_chainId')) || 1;
  const { message } = await askForMessage({ address, chainId, purpose });
  const bytes = [...new TextEncoder().encode(message)];
  const hex = `0x${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  return { message, signature: String(await request(provider, name, 'personal_sign', [hex, address])) };
}

/**
 * @param {Provider} provider
 * @param {string} name
 * @param {string} method
 * @param {unknown[]} [params]
 */
async function request(provider, name, method, params) {
  try {
    return await untilStopped(provider.request({ method, ...(params && { params }) }));
  } catch (error) {
    throw new Problem(explain(name, /** @type {{ code?: unknown } | undefined} */ (error)?.code));
  }
}

/**
 * Waits for a wallet, which may never answer, until the person stops waiting.
 * @param {Promise<unknown>} answer
 */
function untilStopped(answer) {
  const button = byId('stop');
  const before = /** @type {HTMLElement} */ (document.activeElement);
  const stopped = new Promise((_, reject) => {
    button.onclick = () => reject({ code: 'stopped' });
  });
  button.hidden = false;
  return Promise.race([answer, stopped]).finally(() => {
    // Removing a focused button would lose the keyboard's place.
    if (document.activeElement === button) before.focus();
    button.hidden = true;
  });
}

/**
 * Explains what to do about a wallet's error: https://eips.ethereum.org/EIPS/eip-1193#provider-errors
 * @param {string} name
 * @param {unknown} code
 */
function explain(name, code) {
  if (code === 'stopped')
    return `The page no longer waits for ${name}. If ${name} still asks, decline there. Then try again.`;
  if (code === 4001) return `You declined in ${name}. Nothing has happened; try again whenever you like.`;
  if (code === -32002) return `${name} is asking you already: open it and answer there.`;
  if (code === 4100) return `${name} does not let this page use that account. Connect it again.`;
  if (code === 4900 || code === 4901) return `${name} is not connected. Open it, then try again.`;
  return `${name} could not do that. Unlock it, then try again.`;
}
