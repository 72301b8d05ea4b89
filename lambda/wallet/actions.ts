import type { KeyRecord, NetworkLink } from '../identity/identity.ts';
import { readAccount, readPurpose, readText } from './input.ts';
import type { Keyring } from './keyring.ts';
import { keysPerWallet, type Limits, linkLifetime } from './limits.ts';
import type { WalletLog } from './log.ts';
import type { ReadQuota } from './quota-of.ts';
import type { OpenSession, Sessions } from './sessions.ts';
import type { Purpose, SignIn } from './sign-in.ts';
import { WalletError } from './wallet-error.ts';
import type { Action, Network, WalletRequest } from './wallet-request.ts';

export interface ActionDependencies {
  readonly signIn: SignIn;
  readonly sessions: Sessions;
  readonly keyring: Keyring;
  readonly limits: Limits;
  readonly readQuota: ReadQuota;
  readonly linkNetwork: (networkId: string, link: NetworkLink) => Promise<void>;
  readonly serviceName: string;
  readonly memberLimit: number;
  /** Where the gateway is, unless it is where the page is. */
  readonly gatewayUrl: string | undefined;
  readonly log: WalletLog;
  readonly now: () => number;
}

export type Actions = ReturnType<typeof createActions>;

/** What the page asks for, one function for each endpoint. */
export function createActions(dependencies: ActionDependencies) {
  const { signIn, sessions, keyring, limits, readQuota, linkNetwork, log, now } = dependencies;

  const redeem = ({ input, site }: WalletRequest, purpose: Purpose): Promise<string> =>
    signIn.redeem(readText(input, 'message'), readText(input, 'signature'), purpose, site);

  const link = async (network: Network, member: string) => {
    const linkedAt = now();
    const expiresAt = linkedAt + linkLifetime;
    await linkNetwork(network.id, { member, linkedAt, expiresAt });
    return { network: network.name, expiresAt: isoTime(expiresAt) };
  };

  const describe = async (member: string) => {
    const [keys, quota] = await Promise.all([keyring.list(member), readQuota(member)]);
    return { wallet: member, keys: keys.map(showKey), keysAllowed: keysPerWallet, quota };
  };

  /** Makes the key last of all: nothing after it can fail and leave it unseen. */
  const issue = async (request: WalletRequest, member: string) => {
    const described = await describe(member);
    const { key, record } = await keyring.issue(member);
    log.granted(request, { keyId: record.id });
    return { ...described, keys: [showKey(record), ...described.keys], key: { key, ...showKey(record) } };
  };

  return {
    /** What the page shows before anyone has signed. */
    async info({ network, site }) {
      const { serviceName, memberLimit, gatewayUrl = site.baseUrl } = dependencies;
      return { serviceName, gatewayUrl, memberLimit, network: network.name };
    },

    async challenge({ input, network, site }) {
      const [account, purpose] = [readAccount(input), readPurpose(input)];
      await limits.countChallenge(network.id);
      const { message, expiresAt } = await signIn.challenge(account, purpose, site);
      return { message, expiresAt: isoTime(expiresAt) };
    },

    async link(request) {
      const { network } = request;
      const member = await redeem(request, 'link');
      await limits.countGrant(network.id, member);
      const session = await sessions.open(member);
      const linked = await link(network, member);
      const answer = { link: linked, session: showSession(session) };
      log.granted(request, { link: true });
      try {
        return { ...answer, ...(await issue(request, member)) };
      } catch (error) {
        if (!(error instanceof WalletError) || error.code !== 'too_many_keys') throw error;
        // The network is linked all the same, and the session is good for making room.
        return { ...answer, ...(await describe(member)), key: null };
      }
    },

    async signIn(request) {
      const member = await redeem(request, 'manage');
      const session = await sessions.open(member);
      return { ...(await describe(member)), session: showSession(session) };
    },

    async list({ member = '' }) {
      return describe(member);
    },

    async issue(request) {
      const { network, member = '' } = request;
      await limits.countGrant(network.id, member);
      return issue(request, member);
    },

    async revoke(request) {
      const { input, member = '' } = request;
      const id = readText(input, 'id');
      await keyring.revoke(member, id);
      log.revoked(request, { keyId: id });
      return describe(member);
    },

    async linkAgain(request) {
      const { network, member = '' } = request;
      await limits.countGrant(network.id, member);
      const linked = await link(network, member);
      log.granted(request, { link: true });
      return { ...(await describe(member)), link: linked };
    },
  } satisfies Record<string, Action>;
}

const isoTime = (time: number): string => new Date(time).toISOString();
const showKey = ({ id, createdAt }: KeyRecord) => ({ id, createdAt: isoTime(createdAt) });
const showSession = ({ token, expiresAt }: OpenSession) => ({ token, expiresAt: isoTime(expiresAt) });
