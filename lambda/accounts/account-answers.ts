import type { NetworkLink } from '../identity/identify.ts';
import type { KeyRecord } from '../identity/keys.ts';
import type { Account, ShownKey } from './answers.ts';
import { type Keyring, unlabelled } from './keyring.ts';
import type { ReadQuota } from './limits.ts';
import type { AccountsLog } from './log.ts';
import type { AccountsRequest } from './request.ts';
import type { Sessions } from './sessions.ts';
import type { FindRules } from './ways.ts';

interface Dependencies {
  readonly sessions: Sessions;
  readonly keyring: Keyring;
  readonly readQuota: ReadQuota;
  readonly findLink: (networkId: string) => Promise<NetworkLink | undefined>;
  readonly findRules: FindRules;
  readonly log: AccountsLog;
  readonly now: () => number;
}

/** A member's account, as the endpoints answer with it. */
export interface AccountAnswers {
  describe(request: AccountsRequest, member: string): Promise<Account>;
  /** The same, with a new session. */
  open(request: AccountsRequest, member: string): Promise<Account>;
  /** The same, with a new key. */
  issue(request: AccountsRequest, member: string, label: string | undefined): Promise<Account>;
}

export function createAccountAnswers({
  sessions,
  keyring,
  readQuota,
  findLink,
  findRules,
  log,
  now,
}: Dependencies): AccountAnswers {
  const describeLink = async ({ id, name }: AccountsRequest['network'], member: string) => {
    const found = await findLink(id);
    const linked = found?.member === member && found.expiresAt > now();
    return { network: name, expiresAt: linked ? isoTime(found.expiresAt) : null };
  };

  const describe: AccountAnswers['describe'] = async ({ network }, member) => {
    const { keysAllowed, byNetwork } = findRules(member);
    const link = byNetwork ? describeLink(network, member) : null;
    const [keys, quota, linked] = await Promise.all([keyring.list(member), readQuota(member), link]);
    return { wallet: byNetwork ? member : null, keys: keys.map(showKey), keysAllowed, quota, link: linked };
  };

  return {
    describe,
    async open(request, member) {
      const { token, expiresAt } = await sessions.open(member);
      return { ...(await describe(request, member)), session: { token, expiresAt: isoTime(expiresAt) } };
    },
    /** Makes the key last, so that nothing after it can fail and leave it unseen. */
    async issue(request, member, label) {
      const described = await describe(request, member);
      const { key, record } = await keyring.issue(member, { label });
      log.granted(request, { keyId: record.id });
      return { ...described, keys: [showKey(record), ...described.keys], key: { key, ...showKey(record) } };
    },
  };
}

export const isoTime = (time: number): string => new Date(time).toISOString();

const showKey = ({ id, createdAt, label, expiresAt }: KeyRecord): ShownKey => ({
  id,
  createdAt: isoTime(createdAt),
  ...(label !== unlabelled && { label }),
  ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
});
