import { createSiweMessage, parseSiweMessage } from 'viem/siwe';
import { recoverMessageAddress } from 'viem/utils';
import type { Site } from './site.ts';
import { badRequest, WalletError } from './wallet-error.ts';

interface MessageFields {
  readonly address: `0x${string}`;
  readonly chainId: number;
  readonly site: Site;
  readonly statement: string;
  readonly nonce: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** The text that a wallet shows and signs. */
export function writeMessage({ site, issuedAt, expiresAt, ...fields }: MessageFields): string {
  try {
    return createSiweMessage({
      ...fields,
      domain: site.domain,
      uri: site.pageUrl,
      version: '1',
      issuedAt: new Date(issuedAt),
      expirationTime: new Date(expiresAt),
    });
  } catch {
    // Everything else was checked before or is made here.
    throw badRequest(
      `Wallets cannot sign in at ${site.domain}. Open this page by a domain name, as localhost or by an IPv4 address.`,
    );
  }
}

/** Reads a signed message. Throws unless it is for this site, still valid, and signed by the account that it names. */
export async function readSignedMessage(message: string, signature: string, site: Site, now: number) {
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
    throw new WalletError(
      'invalid_signature',
      `This is not the signature of ${address}. Is another account selected in the wallet? ${plainAccountsOnly}`,
    );
  }
  return { address, nonce };
}

const plainAccountsOnly =
  'Contract accounts (smart wallets such as a Safe) are not supported yet: please use a plain account.';

/** Recovers the signer without asking any chain. This works only for plain accounts, which sign with their own key. */
async function signerOf(message: string, signature: string): Promise<string | undefined> {
  if (!/^0x([0-9a-f]{2})*$/i.test(signature)) throw badRequest('signature must be hexadecimal, beginning with 0x.');
  if (signature.length !== 2 + 2 * 65) {
    throw new WalletError('invalid_signature', `This is not the signature of a plain account. ${plainAccountsOnly}`);
  }
  try {
    return (await recoverMessageAddress({ message, signature: signature as `0x${string}` })).toLowerCase();
  } catch {
    return undefined; // impossible numbers
  }
}

function invalid(message: string): WalletError {
  return new WalletError('invalid_sign_in', message);
}
