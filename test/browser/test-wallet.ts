import * as Hex from 'ox/Hex';
import type { Page } from 'playwright-core';
import type { TestAccount } from '../support/accounts.ts';

/** A person's reaction to the wallet's next question. */
type Answer = 'yes' | 'no';

export interface BrowserWallet {
  /** The messages that were shown for signing. */
  readonly shown: readonly string[];
  /** The reaction from now on, and the account and chain. */
  answer: Answer;
  account: TestAccount;
  chainId: string;
  /** Holds every question back while set. */
  pause: Promise<void> | undefined;
  /** Tells the page that these accounts are the chosen ones now. */
  tellAccounts(addresses: readonly string[]): Promise<void>;
}

const icon =
  'data:image/svg+xml;utf8,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 28 28"><rect width="28" height="28" fill="#f6851b"/><path d="M7 9l7 11 7-11z" fill="#fff"/></svg>',
  );

/** Adds a wallet to a page, announced by EIP-6963 or only as `window.ethereum`. Its account really signs, outside the page as an extension does. */
export async function installWallet(page: Page, account: TestAccount, announced = true): Promise<BrowserWallet> {
  const shown: string[] = [];
  const wallet: BrowserWallet = {
    ...{ shown, answer: 'yes', account, chainId: '0x1', pause: undefined },
    tellAccounts: (addresses) =>
      page.evaluate((detail) => {
        // The page's side of this is `on` below.
        Reflect.get(globalThis, 'dispatchEvent')(new CustomEvent('accountsChanged', { detail }));
      }, addresses),
  };
  await page.exposeFunction('askTestWallet', async (method: string, params: readonly string[] = []) => {
    await wallet.pause;
    if (method === 'eth_chainId') return { result: wallet.chainId };
    if (wallet.answer === 'no') return { code: 4001 };
    if (method === 'eth_requestAccounts') return { result: [wallet.account.address] };
    if (method !== 'personal_sign') return { code: 4200 };
    const message = Hex.toString(params[0] as Hex.Hex);
    shown.push(message);
    return { result: wallet.account.sign(message) };
  });
  await page.addInitScript(inject, { announced, icon });
  return wallet;
}

/** Runs in the page. */
function inject({ announced, icon }: { announced: boolean; icon: string }): void {
  const target: unknown = globalThis;
  const page = target as EventTarget;
  const ask: unknown = Reflect.get(globalThis, 'askTestWallet');
  const provider = {
    async request({ method, params }: { method: string; params?: unknown[] }) {
      const { code, result } = await (ask as (...given: unknown[]) => Promise<Record<string, unknown>>)(method, params);
      if (code !== undefined) throw Object.assign(new Error('refused'), { code });
      return result;
    },
    on(event: string, listener: (value: unknown) => void) {
      page.addEventListener(event, (told) => listener((told as CustomEvent).detail));
    },
  };
  if (!announced) {
    Reflect.set(globalThis, 'ethereum', provider);
    return;
  }
  const info = { uuid: '8b1c3d5e-0000-4000-8000-000000000001', name: 'Test Wallet', icon, rdns: 'example.test.wallet' };
  const announce = () => {
    const detail = Object.freeze({ info, provider });
    page.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  };
  page.addEventListener('eip6963:requestProvider', announce);
  announce();
}
