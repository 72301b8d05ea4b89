import { hash } from 'node:crypto';
import type { WalletStore } from '../store/wallets.ts';
import { challengeLifetime } from './limits.ts';
import { readSignedMessage, writeMessage } from './message.ts';
import type { Site } from './site.ts';
import { WalletError } from './wallet-error.ts';

/** What a signature is for. It is part of the message: people read it in their wallet, and it can be used for nothing else. */
export const statements = {
  link: 'Link the network I am on to this wallet for 24 hours, and get an API key.',
  manage: 'See and change the API keys and the network link of this wallet.',
} as const;

const reassurance = 'Signing costs nothing and sends no transaction.';

export type Purpose = keyof typeof statements;

/** The account that is going to sign. */
export interface Signer {
  readonly address: `0x${string}`;
  readonly chainId: number;
}

export interface SignIn {
  /** Makes a message to sign. */
  challenge(signer: Signer, purpose: Purpose, site: Site): Promise<{ message: string; expiresAt: number }>;
  /** The member who has signed this message for this purpose. Works once per message, and throws otherwise. */
  redeem(message: string, signature: string, purpose: Purpose, site: Site): Promise<string>;
}

interface Dependencies {
  readonly store: Pick<WalletStore, 'putChallenge' | 'takeChallenge'>;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Buffer;
}

/** Sign-in with Ethereum (EIP-4361): https://eips.ethereum.org/EIPS/eip-4361 */
export function createSignIn({ store, now, randomBytes }: Dependencies): SignIn {
  return {
    async challenge(signer, purpose, site) {
      const issuedAt = now();
      const expiresAt = issuedAt + challengeLifetime;
      // EIP-4361 takes letters and digits only.
      const nonce = randomBytes(16).toString('hex');
      const statement = `${statements[purpose]} ${reassurance}`;
      const message = writeMessage({ ...signer, site, statement, nonce, issuedAt, expiresAt });
      await store.putChallenge(nonce, { digest: hash('sha256', message), purpose, expiresAt });
      return { message, expiresAt };
    },

    async redeem(message, signature, purpose, site) {
      // Without a correct signature nothing is looked up, let alone written.
      const { address, nonce } = await readSignedMessage(message, signature, site, now());
      // The digest shows that the whole message, chain, times and address included, is as it was made here.
      const expected = { digest: hash('sha256', message), purpose };
      const taken = await store.takeChallenge(nonce, expected, now(), randomBytes(8).toString('hex'));
      if (taken) return address.toLowerCase();
      throw new WalletError(
        'invalid_sign_in',
        'This message was used before, has expired, or was made elsewhere or for something else. Please start again.',
      );
    },
  };
}
