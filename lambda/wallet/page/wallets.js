/**
 * @typedef {object} Provider EIP-1193
 * @property {(call: { method: string, params?: unknown[] }) => Promise<unknown>} request
 * @property {(event: string, listener: () => void) => void} [on]
 *
 * @typedef {object} Wallet EIP-6963
 * @property {Provider} provider
 * @property {{ uuid: string, name: string, icon: string }} info
 */

/** Said to a person; every other error of a wallet is not. */
export class WalletProblem extends Error {}

/**
 * Finds the wallets of this browser, each once: those that announce themselves (EIP-6963), or else the one that took
 * `window.ethereum`.
 * @param {(wallet: Wallet) => void} onFound
 * @param {() => void} onNone
 * @returns {() => void} looks again
 */
export function discoverWallets(onFound, onNone) {
  const known = new Set();
  const add = (/** @type {Wallet} */ wallet) => {
    if (known.has(wallet.info.uuid)) return;
    known.add(wallet.info.uuid);
    onFound(wallet);
  };
  window.addEventListener('eip6963:announceProvider', (event) => {
    add(/** @type {CustomEvent<Wallet>} */ (event).detail);
  });
  const look = () => {
    window.dispatchEvent(new Event('eip6963:requestProvider'));
    // Wallets answer at once or, some, a moment later.
    setTimeout(() => {
      const provider = /** @type {{ ethereum?: Provider }} */ (/** @type {unknown} */ (window)).ethereum;
      if (known.size > 0) return;
      if (provider) add({ provider, info: { uuid: 'injected', name: 'Browser wallet', icon: '' } });
      else onNone();
    }, 200);
  };
  look();
  return look;
}

/**
 * Asks the wallet for an account.
 * @param {Wallet} wallet
 */
export async function connect({ provider, info: { name } }) {
  const accounts = await request(provider, name, 'eth_requestAccounts');
  const address = Array.isArray(accounts) ? accounts[0] : undefined;
  if (typeof address !== 'string') throw new WalletProblem(`${name} showed no account. Is it unlocked?`);
  const chain = await request(provider, name, 'eth_chainId');
  return { address, chainId: Number(chain) || 1 };
}

/**
 * Asks the wallet to sign a text.
 * @param {Wallet} wallet
 * @param {string} address
 * @param {string} message
 */
export async function sign({ provider, info: { name } }, address, message) {
  const bytes = [...new TextEncoder().encode(message)];
  const hex = `0x${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  return String(await request(provider, name, 'personal_sign', [hex, address]));
}

/**
 * @param {Provider} provider
 * @param {string} name
 * @param {string} method
 * @param {unknown[]} [params]
 */
async function request(provider, name, method, params) {
  try {
    return await provider.request({ method, ...(params && { params }) });
  } catch (error) {
    throw new WalletProblem(explain(name, /** @type {{ code?: unknown }} */ (error)?.code));
  }
}

/**
 * What a person can do about a wallet's error: https://eips.ethereum.org/EIPS/eip-1193#provider-errors
 * @param {string} name
 * @param {unknown} code
 */
export function explain(name, code) {
  if (code === 4001) return `You declined in ${name}. Nothing has happened; try again whenever you like.`;
  if (code === -32002) return `${name} is asking you already: open it and answer there.`;
  if (code === 4100) return `${name} does not let this page use that account. Connect it again.`;
  if (code === 4900 || code === 4901) return `${name} is not connected. Open it, then try again.`;
  return `${name} could not do that. Unlock it, then try again.`;
}
