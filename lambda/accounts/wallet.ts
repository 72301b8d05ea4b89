import { hash, randomBytes } from 'node:crypto';
import * as Hex from 'ox/Hex';
import * as PersonalMessage from 'ox/PersonalMessage';
import * as Secp256k1 from 'ox/Secp256k1';
import * as Signature from 'ox/Signature';
import * as Siwe from 'ox/Siwe';
import { isWallet } from '../identity/member.ts';
import { createToken } from '../store/counters.ts';
import type { MemberStore } from '../store/sign-in.ts';
import type { KeyStore } from '../store/store.ts';
import { type Accounts, isoTime } from './account.ts';
import type { AccountsLog } from './accounts-log.ts';
import type { Account } from './answers.ts';
import { accountsError, badRequest, isTooManyKeys, nothingOfThisKind } from './page-errors.ts';
import type { Limits } from './page-limits.ts';
import {
  type AccountsRequest,
  type Endpoints,
  type Input,
  readLabel,
  readText,
  type WithInput,
} from './page-request.ts';
import type { Site } from './site.ts';

/** What a signature is for. People read it in their wallet. It is part of the message, so the signature is valid for nothing else. */
const statements = {
  link: 'Link the network I am on to this wallet for 24 hours, and get an API key.',
  manage: 'See and change the API keys and the network link of this wallet.',
  terminal: 'Sign in a terminal with the code that it shows, which gets an API key of this wallet.',
} as const;

type Purpose = keyof typeof statements;

const reassurance = 'Signing costs nothing and sends no transaction.';

/** How long a message can be signed, in milliseconds. */
const challengeLifetime = 5 * 60_000;
/** How long a network stays linked to a wallet, in milliseconds. */
const linkLifetime = 24 * 3_600_000;

interface Dependencies {
  readonly accounts: Accounts;
  readonly keys: KeyStore;
  readonly members: MemberStore;
  readonly limits: Limits;
  readonly log: AccountsLog;
  readonly now: () => number;
}

/**
 * Wallet sign-in with Sign-In with Ethereum (EIP-4361): https://eips.ethereum.org/EIPS/eip-4361
 * The member is the wallet's address in lower case.
 */
export function createWalletSignIn({ accounts, keys, members, limits, log, now }: Dependencies): Endpoints {
  /** Verifies a signed message and returns the member. Works once per message. */
  const redeem = async ({ input, site }: WithInput, purpose: Purpose): Promise<string> => {
    const [message, signature] = [readText(input, 'message', longestMessage), readText(input, 'signature')];
    // First the signature: without a valid one, the store is not even read.
    const { address, nonce } = readSignedMessage(message, signature, site, now());
    // The digest proves that the whole message is the one issued here, including chain, times and address.
    const expected = { digest: hash('sha256', message), purpose };
    const taken = await members.takeChallenge(nonce, expected, now(), createToken());
    if (taken) return address.toLowerCase();
    throw invalid(
      'This message was used before, has expired, or was made elsewhere or for something else. Please start again.',
    );
  };

  const link = async (request: AccountsRequest, member: string): Promise<void> => {
    const linkedAt = now();
    await keys.link(request.network.id, { member, linkedAt, expiresAt: linkedAt + linkLifetime });
    log.done('granted', request, { link: true });
  };

  return {
    forAnyone: {
      async challenge({ input, network, site }) {
        const [signer, purpose] = [readSigner(input), readPurpose(input)];
        await limits.count('challenges', network.id);
        const issuedAt = now();
        const expiresAt = issuedAt + challengeLifetime;
        // EIP-4361 allows only letters and digits.
        const nonce = randomBytes(16).toString('hex');
        const message = writeMessage(site, {
          ...signer,
          nonce,
          statement: `${statements[purpose]} ${reassurance}`,
          issuedAt: new Date(issuedAt),
          expirationTime: new Date(expiresAt),
        });
        await members.putChallenge(nonce, { digest: hash('sha256', message), purpose, expiresAt });
        return { message, expiresAt: isoTime(expiresAt) };
      },

      /** Links the network, and issues a key if there is a free slot. */
      async link(request): Promise<Account> {
        const label = readLabel(request.input);
        const member = await redeem(request, 'link');
        const signedInAt = now();
        await limits.countGrant(request.network.id, member);
        const { session } = await accounts.open(request, member, 'account');
        await link(request, member);
        try {
          return { ...(await accounts.issue({ ...request, member, signedInAt }, label)), session };
        } catch (error) {
          if (!isTooManyKeys(error)) throw error;
          // The network stays linked, and with the session the person can revoke a key.
          return { ...(await accounts.describe(request, member)), key: null, session };
        }
      },

      async 'sign-in'(request): Promise<Account> {
        const isForTerminal = request.input.purpose === 'terminal';
        const member = await redeem(request, isForTerminal ? 'terminal' : 'manage');
        return accounts.open(request, member, isForTerminal ? 'terminal' : 'account');
      },
    },

    forMembers: {
      /** Links the network again. */
      async network(request): Promise<Account> {
        const { network, member } = request;
        if (!isWallet(member)) throw nothingOfThisKind();
        await limits.countGrant(network.id, member);
        await link(request, member);
        return accounts.describe(request, member);
      },
    },
  };
}

/** Far longer than any message issued here. Parsing takes quadratic time. */
const longestMessage = 2000;

function readPurpose(input: Input): Purpose {
  const purpose = Object.keys(statements).find((known) => known === (input.purpose ?? 'link'));
  if (purpose === undefined) throw badRequest(`purpose must be ${Object.keys(statements).join(' or ')}.`);
  return purpose as Purpose;
}

/** The account that will sign. */
function readSigner(input: Input) {
  const address = readText(input, 'address');
  const chainId = input.chainId ?? 1;
  if (!isAddress(address)) throw badRequest('address must be 0x and 40 hexadecimal digits.');
  if (typeof chainId !== 'number' || !Number.isSafeInteger(chainId) || chainId < 1) {
    throw badRequest('chainId must be a whole number above 0.');
  }
  // Wallets spell it in many ways. The message has it with its checksum.
  return { address: address.toLowerCase() as Hex.Hex, chainId };
}

const isAddress = (text: string): boolean => /^0x[0-9a-f]{40}$/i.test(text);

/** Creates the text that a wallet shows and signs. */
function writeMessage(site: Site, fields: Omit<Siwe.Message, 'domain' | 'uri' | 'version'>): string {
  try {
    return Siwe.createMessage({ ...fields, domain: site.domain, uri: site.pageUrl, version: '1' });
  } catch {
    // Only the domain can be at fault: the rest is already checked or created here.
    throw badRequest(
      `Wallets cannot sign in at ${site.domain}. Open this page by a domain name, as localhost or by an IPv4 address.`,
    );
  }
}

/** Parses a signed message. Throws unless it is for this site, still valid, and signed by the account in it. */
function readSignedMessage(message: string, signature: string, site: Site, now: number) {
  const { address, domain, expirationTime, issuedAt, nonce, uri, version } = Siwe.parseMessage(message);
  if (!address || !domain || !expirationTime || !issuedAt || !nonce || version !== '1') {
    throw badRequest('message must be the text to sign, exactly as POST /cli/challenge gave it.');
  }
  if (domain !== site.domain || uri !== site.pageUrl) {
    throw invalid(`This message was signed for ${domain}, not for ${site.domain}. Was it another site that asked you?`);
  }
  // An invalid date counts as expired.
  if (!(expirationTime.getTime() > now)) {
    throw invalid('This message has expired. Please start again: it must be signed within 5 minutes.');
  }
  if (signerOf(message, signature) !== address.toLowerCase()) {
    throw accountsError(
      'invalid_signature',
      `This is not the signature of ${address}. Is another account selected in the wallet? ${plainAccountsOnly}`,
    );
  }
  return { address, nonce };
}

const plainAccountsOnly =
  'Contract accounts (smart wallets such as a Safe) can’t sign in here: please use a plain account.';

/** Recovers the signer offline, which works only for plain accounts (EOAs), not for contract accounts. */
function signerOf(message: string, signature: string): string | undefined {
  if (!/^0x([0-9a-f]{2})*$/i.test(signature)) throw badRequest('signature must be hexadecimal, beginning with 0x.');
  if (signature.length !== 2 + 2 * 65) {
    throw accountsError('invalid_signature', `This is not the signature of a plain account. ${plainAccountsOnly}`);
  }
  // The last byte, v, says which of two accounts it is.
  if (!/(0[01]|1[bc])$/i.test(signature)) return undefined;
  try {
    const payload = PersonalMessage.getSignPayload(Hex.fromString(message));
    const parts = Signature.fromHex(signature as Hex.Hex);
    return Secp256k1.recoverAddress({ payload, signature: parts }).toLowerCase();
  } catch {
    return undefined; // not a valid point on the curve
  }
}

const invalid = (message: string) => accountsError('invalid_sign_in', message);
