import { hash } from 'node:crypto';
import { createSiweMessage, parseSiweMessage, type SiweMessage } from 'viem/siwe';
import { recoverMessageAddress } from 'viem/utils';
import type { MemberStore } from '../tables/members.ts';
import { challengeLifetime } from './limits.ts';
import { AccountsError, badRequest, type Site } from './request.ts';

/** What a signature is for. It is part of the message: people read it in their wallet, and it can be used for nothing else. */
export const statements = {
  link: 'Link the network I am on to this wallet for 24 hours, and get an API key.',
  manage: 'See and change the API keys and the network link of this wallet.',
  terminal: 'Sign in a terminal with the code that it shows, which gets an API key of this wallet.',
} as const;

const reassurance = 'Signing costs nothing and sends no transaction.';

export type Purpose = keyof typeof statements;

/** The account that is going to sign. */
export interface Signer {
  readonly address: `0x${string}`;
  readonly chainId: number;
}

export type WalletSignIn = ReturnType<typeof createWalletSignIn>;

interface Dependencies {
  readonly store: Pick<MemberStore, 'putChallenge' | 'takeChallenge'>;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Buffer;
}

/** Sign-in with Ethereum (EIP-4361): https://eips.ethereum.org/EIPS/eip-4361 */
export function createWalletSignIn({ store, now, randomBytes }: Dependencies) {
  return {
    /** Makes a message to sign. */
    async challenge(signer: Signer, purpose: Purpose, site: Site) {
      const issuedAt = now();
      const expiresAt = issuedAt + challengeLifetime;
      // EIP-4361 takes letters and digits only.
      const nonce = randomBytes(16).toString('hex');
      const message = writeMessage(site, {
        ...{ ...signer, nonce, statement: `${statements[purpose]} ${reassurance}` },
        issuedAt: new Date(issuedAt),
        expirationTime: new Date(expiresAt),
      });
      await store.putChallenge(nonce, { digest: hash('sha256', message), purpose, expiresAt });
      return { message, expiresAt };
    },

    /** The member who has signed this message for this purpose. Works once per message, and throws otherwise. */
    async redeem(message: string, signature: string, purpose: Purpose, site: Site): Promise<string> {
      // Without a correct signature nothing is looked up, let alone written.
      const { address, nonce } = await readSignedMessage(message, signature, site, now());
      // The digest shows that the whole message, chain, times and address included, is as it was made here.
      const expected = { digest: hash('sha256', message), purpose };
      const taken = await store.takeChallenge(nonce, expected, now(), randomBytes(8).toString('hex'));
      if (taken) return address.toLowerCase();
      throw new AccountsError(
        'invalid_sign_in',
        'This message was used before, has expired, or was made elsewhere or for something else. Please start again.',
      );
    },
  };
}

/** The text that a wallet shows and signs. */
function writeMessage(site: Site, fields: Omit<SiweMessage, 'domain' | 'uri' | 'version'>): string {
  try {
    return createSiweMessage({ ...fields, domain: site.domain, uri: site.pageUrl, version: '1' });
  } catch {
    // Everything else was checked before or is made here.
    throw badRequest(
      `Wallets cannot sign in at ${site.domain}. Open this page by a domain name, as localhost or by an IPv4 address.`,
    );
  }
}

/** Reads a signed message. Throws unless it is for this site, still valid, and signed by the account that it names. */
async function readSignedMessage(message: string, signature: string, site: Site, now: number) {
  const { address, domain, expirationTime, issuedAt, nonce, uri, version } = parseSiweMessage(message);
  if (!address || !domain || !expirationTime || !issuedAt || !nonce || version !== '1') {
    throw badRequest('message must be the text to sign, exactly as POST /cli/challenge gave it.');
  }
  if (domain !== site.domain || uri !== site.pageUrl) {
    throw invalid(`This message was signed for ${domain}, not for ${site.domain}. Was it another site that asked you?`);
  }
  // Invalid times count as past.
  if (!(expirationTime.getTime() > now) || !(issuedAt.getTime() <= expirationTime.getTime())) {
    throw invalid('This message has expired. Please start again: it must be signed within 5 minutes.');
  }
  if ((await signerOf(message, signature)) !== address.toLowerCase()) {
    throw new AccountsError(
      'invalid_signature',
      `This is not the signature of ${address}. Is another account selected in the wallet? ${plainAccountsOnly}`,
    );
  }
  return { address, nonce };
}

const plainAccountsOnly =
  'Contract accounts (smart wallets such as a Safe) can’t sign in here: please use a plain account.';

/** Recovers the signer without asking any chain. This works only for plain accounts, which sign with their own key. */
async function signerOf(message: string, signature: string): Promise<string | undefined> {
  if (!/^0x([0-9a-f]{2})*$/i.test(signature)) throw badRequest('signature must be hexadecimal, beginning with 0x.');
  if (signature.length !== 2 + 2 * 65) {
    throw new AccountsError('invalid_signature', `This is not the signature of a plain account. ${plainAccountsOnly}`);
  }
  try {
    return (await recoverMessageAddress({ message, signature: signature as `0x${string}` })).toLowerCase();
  } catch {
    return undefined; // impossible numbers
  }
}

function invalid(message: string): AccountsError {
  return new AccountsError('invalid_sign_in', message);
}
