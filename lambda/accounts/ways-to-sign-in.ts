import type { NetworkLink } from '../identity/identify.ts';
import { type AccountAnswers, isoTime, type MemberActions } from './account.ts';
import type { Account, Challenge } from './answers.ts';
import type { CompanySignIn } from './company-sign-in.ts';
import { isTooManyKeys, type Keyring } from './keyring.ts';
import { keysPerWallet, type Limits, linkLifetime, type WayRules } from './limits.ts';
import type { AccountsLog } from './log.ts';
import { type AccountsRequest, type Action, badRequest, readLabel, readText, type WithInput } from './request.ts';
import { type Purpose, type Signer, statements, type WalletSignIn } from './wallet-sign-in.ts';

/** A way to sign in. */
export interface Way extends WayRules {
  /** What anyone may call, by its path below the page. */
  readonly actions: Readonly<Record<string, Action<WithInput>>>;
  /** What only its members may call. */
  readonly memberActions: MemberActions;
}

type Input = WithInput['input'];

interface WalletDependencies {
  readonly signIn: WalletSignIn;
  readonly accounts: AccountAnswers;
  readonly limits: Limits;
  readonly linkNetwork: (networkId: string, link: NetworkLink) => Promise<void>;
  readonly log: AccountsLog;
  readonly now: () => number;
}

/** A member is a wallet's address in lower case. */
export const ofWallets: WayRules = {
  owns: (member) => /^0x[0-9a-f]{40}$/.test(member),
  rules: { keysAllowed: keysPerWallet, byNetwork: true },
};

/** Signs in with a wallet: a message to sign, and what its signature is for. */
export function createWalletWay({ signIn, accounts, limits, linkNetwork, log, now }: WalletDependencies): Way {
  const redeem = ({ input, site }: AccountsRequest & WithInput, purpose: Purpose): Promise<string> =>
    signIn.redeem(readText(input, 'message', longestMessage), readText(input, 'signature'), purpose, site);

  const link = async (request: AccountsRequest, member: string): Promise<void> => {
    const linkedAt = now();
    await linkNetwork(request.network.id, { member, linkedAt, expiresAt: linkedAt + linkLifetime });
    log.granted(request, { link: true });
  };

  return {
    ...ofWallets,
    actions: {
      async challenge({ input, network, site }): Promise<Challenge> {
        const [signer, purpose] = [readSigner(input), readPurpose(input)];
        await limits.count('challenges', network.id);
        const { message, expiresAt } = await signIn.challenge(signer, purpose, site);
        return { message, expiresAt: isoTime(expiresAt) };
      },

      /** Links the network, and gives a key where there is room for one. */
      async link(request): Promise<Account> {
        const label = readLabel(request.input);
        const member = await redeem(request, 'link');
        await limits.countGrant(request.network.id, member);
        const { session } = await accounts.open(request, member);
        await link(request, member);
        const withSession = (account: Account): Account => ({ ...account, ...(session && { session }) });
        try {
          return withSession(await accounts.issue(request, member, label));
        } catch (error) {
          if (!isTooManyKeys(error)) throw error;
          // The network is linked all the same, and with the session the person can revoke a key.
          return withSession({ ...(await accounts.describe(request, member)), key: null });
        }
      },

      async 'sign-in'(request): Promise<Account> {
        const member = await redeem(request, request.input.purpose === 'terminal' ? 'terminal' : 'manage');
        return accounts.open(request, member);
      },
    },
    memberActions: {
      /** Links the network anew. */
      async network(request): Promise<Account> {
        const { network, member } = request;
        await limits.countGrant(network.id, member);
        await link(request, member);
        return accounts.describe(request, member);
      },
    },
  };
}

/** Far above any message made here: finding the fields of a text takes time by the square of its length. */
const longestMessage = 2000;

function readPurpose(input: Input): Purpose {
  const purpose = Object.keys(statements).find((known) => known === (input.purpose ?? 'link'));
  if (purpose === undefined) throw badRequest(`purpose must be ${Object.keys(statements).join(' or ')}.`);
  return purpose as Purpose;
}

function readSigner(input: Input): Signer {
  const address = readText(input, 'address');
  const chainId = input.chainId ?? 1;
  if (!isAddress(address)) throw badRequest('address must be 0x and 40 hexadecimal digits.');
  if (typeof chainId !== 'number' || !Number.isSafeInteger(chainId) || chainId < 1) {
    throw badRequest('chainId must be a whole number above 0.');
  }
  return { address, chainId };
}

function isAddress(text: string): text is `0x${string}` {
  return /^0x[0-9a-f]{40}$/i.test(text);
}

interface CompanyDependencies {
  readonly signIn: CompanySignIn;
  readonly accounts: AccountAnswers;
  readonly keyring: Keyring;
  readonly limits: Limits;
}

export const ofCompany = (config: { oidcKeys: number; oidcKeyDays: number }): WayRules => ({
  owns: (member) => member.startsWith('oidc:'),
  rules: { keysAllowed: config.oidcKeys, keyLifetime: config.oidcKeyDays * 86_400_000, byNetwork: false },
});

/** Signs in with the company's account, by OpenID Connect. The page makes state and verifier, and keeps them in its tab. */
export function createCompanyWay(own: WayRules, { signIn, accounts, keyring, limits }: CompanyDependencies): Way {
  return {
    ...own,
    actions: {
      async 'oidc/begin'({ input }) {
        return { url: await signIn.begin({ ...readState(input), challenge: readSecret(input, 'challenge') }) };
      },

      async 'oidc/redeem'(request): Promise<Account> {
        const { input, network } = request;
        const answer = new URLSearchParams(readText(input, 'answer', longestAnswer));
        const made = { ...readState(input), verifier: readSecret(input, 'verifier') };
        // Anyone can make up answers, and each is a request to the provider. A whole office may sign in at nine.
        const attempt = await limits.count('sign-ins', network.id);
        const { member, ...person } = await signIn.redeem(answer, made);
        await attempt.undo();
        return { ...(await accounts.open(request, member)), person };
      },
    },
    memberActions: {
      /** Starts the lifetime of keys anew: the person has just shown that they are still let in. */
      async 'keys/renew'(request): Promise<Account> {
        const { input, member } = request;
        for (const id of readIds(input)) await keyring.renew(member, id);
        return accounts.describe(request, member);
      },
    },
  };
}

/** Codes are short, but some providers make them of a whole session. */
const longestAnswer = 8_192;

const readState = (input: Input) => ({ state: readSecret(input, 'state'), nonce: readSecret(input, 'nonce') });

/** What the page made at random: 256 bits, or a hash. */
function readSecret(input: Input, name: string): string {
  const text = readText(input, name);
  if (/^[\w-]{43}$/.test(text)) return text;
  throw badRequest(`${name} must be 43 letters, digits, - or _.`);
}

function readIds({ ids }: Input): readonly string[] {
  const isList = Array.isArray(ids) && ids.length <= 100 && ids.every((id) => typeof id === 'string');
  if (isList) return ids;
  throw badRequest('ids must be a list of the ids of keys.');
}
