import type { KeyRecord, NetworkLink } from '../identity/identity.ts';
import type { Network } from '../identity/network.ts';
import type { Account, Challenge, Info, ShownKey } from './answers.ts';
import { type Keyring, unlabelled } from './keyring.ts';
import { keysPerWallet, type Limits, linkLifetime, type ReadQuota } from './limits.ts';
import type { WalletLog } from './log.ts';
import { badRequest, type SignedIn, WalletError, type WalletRequest, type WithInput } from './request.ts';
import type { OpenSession, Sessions } from './sessions.ts';
import { type Purpose, type Signer, type SignIn, statements } from './sign-in.ts';

interface ActionDependencies {
  readonly signIn: SignIn;
  readonly sessions: Sessions;
  readonly keyring: Keyring;
  readonly limits: Limits;
  readonly readQuota: ReadQuota;
  readonly linkNetwork: (networkId: string, link: NetworkLink) => Promise<void>;
  readonly findLink: (networkId: string) => Promise<NetworkLink | undefined>;
  readonly serviceName: string;
  readonly contextWindow: number | undefined;
  readonly memberLimit: number;
  /** The gateway's address, unless it is the page's own. */
  readonly gatewayUrl: string | undefined;
  readonly log: WalletLog;
  readonly now: () => number;
}

type SignedInRequest = WalletRequest & WithInput & SignedIn;

export type Actions = ReturnType<typeof createActions>;

/** One function for each endpoint that the page calls. */
export function createActions(dependencies: ActionDependencies) {
  const parts = createParts(dependencies);
  return { ...createPublicActions(dependencies, parts), ...createSignedInActions(dependencies, parts) };
}

/** What anyone may call. */
function createPublicActions(dependencies: ActionDependencies, { redeem, link, describe, issue }: Parts) {
  const { signIn, sessions, limits } = dependencies;
  return {
    /** The facts that the page shows before anyone signs in. */
    async info({ network, site }: WalletRequest): Promise<Info> {
      const { serviceName, contextWindow, memberLimit, gatewayUrl = site.baseUrl } = dependencies;
      return { serviceName, gatewayUrl, contextWindow, memberLimit, network: network.name };
    },

    async challenge({ input, network, site }: WalletRequest & WithInput): Promise<Challenge> {
      const [signer, purpose] = [readSigner(input), readPurpose(input)];
      await limits.countChallenge(network.id);
      const { message, expiresAt } = await signIn.challenge(signer, purpose, site);
      return { message, expiresAt: isoTime(expiresAt) };
    },

    async link(request: WalletRequest & WithInput): Promise<Account> {
      const label = readLabel(request.input);
      const member = await redeem(request, 'link');
      await limits.countGrant(request.network.id, member);
      const session = showSession(await sessions.open(member));
      await link(request, member);
      try {
        return { ...(await issue(request, member, label)), session };
      } catch (error) {
        if (!isTooManyKeys(error)) throw error;
        // The network is linked all the same, and with the session the person can revoke a key.
        return { ...(await describe(request, member)), session, key: null };
      }
    },

    async signIn(request: WalletRequest & WithInput): Promise<Account> {
      const member = await redeem(request, 'manage');
      const session = showSession(await sessions.open(member));
      return { ...(await describe(request, member)), session };
    },
  };
}

/** What needs a session. */
function createSignedInActions({ keyring, limits, log }: ActionDependencies, { link, describe, issue }: Parts) {
  return {
    async list(request: SignedInRequest): Promise<Account> {
      const { member } = request;
      return describe(request, member);
    },

    async issue(request: SignedInRequest): Promise<Account> {
      const { input, network, member } = request;
      const label = readLabel(input);
      // Checked first, so that only a race for the last place needs an undo.
      await keyring.requireFreeSlot(member);
      const grant = await limits.countGrant(network.id, member);
      try {
        return await issue(request, member, label);
      } catch (error) {
        if (isTooManyKeys(error)) await grant.undo();
        throw error;
      }
    },

    async revoke(request: SignedInRequest): Promise<Account> {
      const { input, member } = request;
      const id = readText(input, 'id');
      await keyring.revoke(member, id);
      log.revoked(request, { keyId: id });
      return describe(request, member);
    },

    async linkAgain(request: SignedInRequest): Promise<Account> {
      const { network, member } = request;
      await limits.countGrant(network.id, member);
      await link(request, member);
      return describe(request, member);
    },
  };
}

type Parts = ReturnType<typeof createParts>;

/** What several endpoints do. */
function createParts(dependencies: ActionDependencies) {
  const { signIn, keyring, readQuota, linkNetwork, findLink, log, now } = dependencies;

  const redeem = ({ input, site }: WalletRequest & WithInput, purpose: Purpose): Promise<string> =>
    signIn.redeem(readMessage(input), readText(input, 'signature'), purpose, site);

  const link = async (request: WalletRequest, member: string): Promise<void> => {
    const linkedAt = now();
    await linkNetwork(request.network.id, { member, linkedAt, expiresAt: linkedAt + linkLifetime });
    log.granted(request, { link: true });
  };

  const describeLink = async ({ id, name }: Network, member: string) => {
    const found = await findLink(id);
    const linked = found?.member === member && found.expiresAt > now();
    return { network: name, expiresAt: linked ? isoTime(found.expiresAt) : null };
  };

  const describe = async ({ network }: WalletRequest, member: string): Promise<Account> => {
    const parts = [keyring.list(member), readQuota(member), describeLink(network, member)] as const;
    const [keys, quota, linked] = await Promise.all(parts);
    return { wallet: member, keys: keys.map(showKey), keysAllowed: keysPerWallet, quota, link: linked };
  };

  /** Makes the key last, so that nothing after it can fail and leave it unseen. */
  const issue = async (request: WalletRequest, member: string, label: string | undefined): Promise<Account> => {
    const described = await describe(request, member);
    const { key, record } = await keyring.issue(member, label);
    log.granted(request, { keyId: record.id });
    return { ...described, keys: [showKey(record), ...described.keys], key: { key, ...showKey(record) } };
  };

  return { redeem, link, describe, issue };
}

const isTooManyKeys = (error: unknown): boolean => error instanceof WalletError && error.code === 'too_many_keys';
const isoTime = (time: number): string => new Date(time).toISOString();
const showKey = ({ id, createdAt, label }: KeyRecord): ShownKey => ({
  id,
  createdAt: isoTime(createdAt),
  ...(label !== unlabelled && { label }),
});
const showSession = ({ token, expiresAt }: OpenSession) => ({ token, expiresAt: isoTime(expiresAt) });

type Input = WithInput['input'];

/** Room for the signature of a contract account, so that its owner gets the right error. */
const longestText = 16_384;

/** Far above any message made here: finding the fields of a text takes time by the square of its length. */
const longestMessage = 2000;

const readMessage = (input: Input): string => readText(input, 'message', longestMessage);

/** A text of the body. */
function readText(input: Input, name: string, longest = longestText): string {
  const value = input[name];
  if (typeof value !== 'string' || value === '') throw badRequest(`${name} must be a text.`);
  if (value.length > longest) throw badRequest(`${name} may have ${longest} characters at most.`);
  return value;
}

/** Neither a control character nor one that turns the direction of a text around: operators read labels in a terminal. */
const visible = /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\u200d]{0,40}$/u;

/** What a person calls a new key; undefined if they leave it open. */
function readLabel(input: Input): string | undefined {
  const label = input.label ?? '';
  if (typeof label !== 'string' || !visible.test(label)) {
    throw badRequest('label must be a text of at most 40 visible characters.');
  }
  return label.trim() || undefined;
}

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
