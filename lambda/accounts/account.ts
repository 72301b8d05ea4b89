import { hash, randomBytes } from 'node:crypto';
import type { Budget } from '../budget/budget-window.ts';
import { formatAmount } from '../budget/money.ts';
import { secondsUntil } from '../budget/time.ts';
import type { KeyRecord } from '../identity/issued-keys.ts';
import { isWallet } from '../identity/member.ts';
import { readMemberUsage } from '../quota/policy.ts';
import { modelId } from '../settings/models.ts';
import type { Counters } from '../store/counters.ts';
import type { MemberStore, SessionPurpose } from '../store/sign-in.ts';
import type { KeyStore } from '../store/store.ts';
import type { AccountsLog } from './accounts-log.ts';
import type { Account, ShownKey } from './answers.ts';
import { type Keyring, unlabelled } from './keyring.ts';
import { isTooManyKeys, notSignedIn } from './page-errors.ts';
import type { Limits } from './page-limits.ts';
import { type AccountsRequest, type Endpoints, readLabel, readText, type Signer } from './page-request.ts';

interface Dependencies {
  readonly keys: KeyStore;
  readonly members: MemberStore;
  readonly counters: Counters;
  readonly keyring: Keyring;
  readonly limits: Limits;
  readonly serviceName: string;
  readonly memberLimit: number;
  readonly memberBudget: Budget | undefined;
  /** For displayed amounts. */
  readonly currency: string;
  readonly log: AccountsLog;
  readonly now: () => number;
}

export type Accounts = ReturnType<typeof createMemberAccounts>;

/** A member's account as the endpoints return it, however the member has signed in. */
export function createMemberAccounts(dependencies: Dependencies) {
  const { keyring, limits, log } = dependencies;
  const describe = createDescribe(dependencies);
  const sessions = createSessions(dependencies);

  /** Describes the account and adds a new key. Issues the key last, because it would be lost if anything after it failed. */
  const issue = async (request: AccountsRequest & Signer, label: string | undefined): Promise<Account> => {
    const described = await describe(request, request.member);
    const { key, record } = await keyring.issue(request, { label });
    log.done('granted', request, { keyId: record.id });
    return { ...described, keys: [showKey(record), ...described.keys], key: { key, ...showKey(record) } };
  };

  return {
    describe,
    issue,

    /** Describes the account and opens a session. The page holds the token as long as it is open. */
    async open(request: AccountsRequest, member: string, purpose?: SessionPurpose): Promise<Account> {
      const session = await sessions.open(member, purpose);
      return { ...(await describe(request, member)), session };
    },

    findSigner: sessions.findSigner,

    forMembers: {
      keys: (request) => describe(request, request.member),

      async 'keys/issue'(request) {
        const { input, network, member } = request;
        const label = readLabel(input);
        // Checked first, so that only a race for the last slot needs an undo.
        await keyring.requireFreeSlot(member);
        const undo = await limits.countGrant(network.id, member);
        try {
          return await issue(request, label);
        } catch (error) {
          if (isTooManyKeys(error)) await undo();
          throw error;
        }
      },

      async 'keys/revoke'(request) {
        const { input, member } = request;
        const id = readText(input, 'id');
        await keyring.revoke(member, id);
        log.done('revoked', request, { keyId: id });
        return describe(request, member);
      },
    } satisfies Endpoints['forMembers'],
  };
}

/** Describes a member's keys, remaining quota and, for a wallet, its link to the network. */
function createDescribe(dependencies: Dependencies) {
  const { keys, keyring, counters, memberLimit, memberBudget, serviceName, currency, now } = dependencies;
  const limits = { counters, memberLimit, memberBudget };

  /** Today's quota of a member, shared by its keys and links. */
  const readQuota = async (member: string): Promise<Account['quota']> => {
    const time = now();
    const { limit, remaining, resetAt, budget } = await readMemberUsage(limits, { member }, time);
    const left = budget && {
      currency,
      window: budget.window,
      limit: formatAmount(budget.limit),
      remaining: formatAmount(budget.remaining),
      resetSeconds: secondsUntil(budget.resetAt, time),
      models: budget.uses.map(({ kind, input, output, spent }) => ({
        id: modelId(serviceName, kind),
        inputTokens: input,
        outputTokens: output,
        spent: formatAmount(spent),
      })),
    };
    return { limit, remaining, resetSeconds: secondsUntil(resetAt, time), budget: left };
  };

  const describeLink = async ({ id, name }: AccountsRequest['network'], member: string) => {
    const found = await keys.findLink(id);
    const linked = found?.member === member && found.expiresAt > now();
    return { network: name, expiresAt: linked ? isoTime(found.expiresAt) : null };
  };

  return async ({ network }: AccountsRequest, member: string): Promise<Account> => {
    const wallet = isWallet(member) ? member : null;
    const link = wallet === null ? null : describeLink(network, member);
    const [held, quota, linked] = await Promise.all([keyring.list(member), readQuota(member), link]);
    return { wallet, keys: held.map(showKey), keysAllowed: keyring.mostOf(member), quota, link: linked };
  };
}

/** How long a person stays signed in, in milliseconds. */
const sessionLifetime = 15 * 60_000;

/** Sessions. Only hashes of their tokens are stored. */
function createSessions({ members, now }: Pick<Dependencies, 'members' | 'now'>) {
  return {
    async open(member: string, purpose: SessionPurpose | undefined) {
      const token = `lts_${randomBytes(32).toString('base64url')}`;
      const expiresAt = now() + sessionLifetime;
      await members.putSession(hash('sha256', token), { member, expiresAt, ...(purpose && { purpose }) });
      return { token, expiresAt: isoTime(expiresAt) };
    },

    /** Finds the member by the header `Authorization: Bearer TOKEN`. A session that was signed for one purpose is valid for no other. */
    async findSigner(authorization = '', purpose: SessionPurpose): Promise<Signer> {
      const token = /^bearer +(lts_[\w-]{43})$/i.exec(authorization)?.[1];
      const session = token === undefined ? undefined : await members.findSession(hash('sha256', token));
      if (session && session.expiresAt > now() && (session.purpose ?? purpose) === purpose) {
        const { member, expiresAt } = session;
        const signedInAt = expiresAt - sessionLifetime;
        if (!(await members.wasSignedOut(member, signedInAt))) return { member, signedInAt };
      }
      throw notSignedIn();
    },
  };
}

export const isoTime = (time: number): string => new Date(time).toISOString();

const showKey = ({ id, createdAt, label, expiresAt, renewable }: KeyRecord): ShownKey => ({
  id,
  createdAt: isoTime(createdAt),
  ...(label !== unlabelled && { label }),
  ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
  ...(renewable && { renewable }),
});
