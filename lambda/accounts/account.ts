import type { Budget } from '../budget/budget-window.ts';
import { formatAmount } from '../budget/money.ts';
import type { NetworkLink } from '../identity/identify.ts';
import type { KeyRecord } from '../identity/keys.ts';
import type { Counters } from '../quota/counter-store.ts';
import { readMemberUsage, secondsUntil } from '../quota/policy.ts';
import type { Account, MemberQuota, ShownKey } from './answers.ts';
import { isTooManyKeys } from './errors.ts';
import { type Keyring, unlabelled } from './keyring.ts';
import type { FindRules, Limits } from './limits.ts';
import type { AccountsLog } from './log.ts';
import { type AccountsRequest, type Endpoints, readLabel, readText } from './request.ts';
import type { Sessions } from './sessions.ts';

interface Dependencies {
  readonly sessions: Sessions;
  readonly keyring: Keyring;
  readonly limits: Limits;
  readonly counters: Pick<Counters, 'read'>;
  readonly memberLimit: number;
  readonly memberBudget: Budget | undefined;
  readonly currency: string;
  readonly findLink: (networkId: string) => Promise<NetworkLink | undefined>;
  readonly findRules: FindRules;
  readonly log: AccountsLog;
  readonly now: () => number;
}

export type Accounts = ReturnType<typeof createMemberAccounts>;

/** A member's account, as the endpoints answer with it, however the member has signed in. */
export function createMemberAccounts(dependencies: Dependencies) {
  const { sessions, keyring, limits, currency, findLink, findRules, log, now } = dependencies;

  /** What is left today for all keys and links of a member together. */
  const readQuota = async (member: string): Promise<MemberQuota> => {
    const time = now();
    const { limit, remaining, resetAt, budget } = await readMemberUsage(dependencies, { member }, time);
    const left = budget && {
      ...{ currency, window: budget.window },
      ...{ limit: formatAmount(budget.limit), remaining: formatAmount(budget.remaining) },
      resetSeconds: secondsUntil(budget.resetAt, time),
    };
    return { limit, remaining, resetSeconds: secondsUntil(resetAt, time), budget: left };
  };

  const describeLink = async ({ id, name }: AccountsRequest['network'], member: string) => {
    const found = await findLink(id);
    const linked = found?.member === member && found.expiresAt > now();
    return { network: name, expiresAt: linked ? isoTime(found.expiresAt) : null };
  };

  const describe = async ({ network }: AccountsRequest, member: string): Promise<Account> => {
    const { keysAllowed, byNetwork } = findRules(member);
    const link = byNetwork ? describeLink(network, member) : null;
    const [keys, quota, linked] = await Promise.all([keyring.list(member), readQuota(member), link]);
    return { wallet: byNetwork ? member : null, keys: keys.map(showKey), keysAllowed, quota, link: linked };
  };

  /** The same, with a new key, which is made last, so that nothing after it can fail and leave it unseen. */
  const issue = async (request: AccountsRequest, member: string, label: string | undefined): Promise<Account> => {
    const described = await describe(request, member);
    const { key, record } = await keyring.issue(member, { label });
    log.granted(request, { keyId: record.id });
    return { ...described, keys: [showKey(record), ...described.keys], key: { key, ...showKey(record) } };
  };

  return {
    describe,
    issue,

    /** The same, with a new session. */
    async open(request: AccountsRequest, member: string): Promise<Account> {
      const { token, expiresAt } = await sessions.open(member);
      return { ...(await describe(request, member)), session: { token, expiresAt: isoTime(expiresAt) } };
    },

    forMembers: {
      keys: (request) => describe(request, request.member),

      async 'keys/issue'(request) {
        const { input, network, member } = request;
        const label = readLabel(input);
        // Checked first, so that only a race for the last place needs an undo.
        await keyring.requireFreeSlot(member);
        const undo = await limits.countGrant(network.id, member);
        try {
          return await issue(request, member, label);
        } catch (error) {
          if (isTooManyKeys(error)) await undo();
          throw error;
        }
      },

      async 'keys/revoke'(request) {
        const { input, member } = request;
        const id = readText(input, 'id');
        await keyring.revoke(member, id);
        log.revoked(request, { keyId: id });
        return describe(request, member);
      },
    } satisfies Endpoints['forMembers'],
  };
}

export const isoTime = (time: number): string => new Date(time).toISOString();

const showKey = ({ id, createdAt, label, expiresAt }: KeyRecord): ShownKey => ({
  id,
  createdAt: isoTime(createdAt),
  ...(label !== unlabelled && { label }),
  ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
});
