import { createHmac } from 'node:crypto';

/*
 * The rules of identity and quota, written down a second time from what the gateway promises and without a line of its
 * code: what a request counts in, how many of a crowd may pass, and what every counter must say in the end.
 */

export interface Limits {
  readonly guest: number;
  readonly guestWindow: 'lifetime' | 'daily';
  readonly member: number;
  readonly burst: number;
}

/** What a caller shows: the address it comes from, and perhaps a key. */
export interface Caller {
  readonly address: string;
  /** The text in the key header; absent for a caller who sends none. */
  readonly shows?: string | undefined;
  readonly origin?: string | undefined;
}

interface Key {
  readonly id: string;
  readonly member: string;
  readonly limit?: number | undefined;
  readonly expiresAt?: number | undefined;
  readonly revoked?: boolean;
}

interface Counter {
  used: number;
  /** How many charges may stand beside those, because the store's answer was lost. */
  doubt: number;
  /** Charges by minute since the epoch, refunded or not. */
  readonly minutes: Map<number, number>;
}

/** One counter as a caller meets it now. */
export interface Account {
  /** As the table calls it. */
  readonly item: string;
  readonly limit: number;
  /** Whether it starts anew at midnight. */
  readonly daily: boolean;
}

export interface Crowd {
  /** How many wanted to be charged at once. */
  readonly wanting: number;
  readonly passed: number;
  /** How many of those that passed were refunded. */
  readonly refunded: number;
  /** The codes of those that did not. */
  readonly refusals: readonly string[];
  /** How many were turned away because the store did not answer: each may have been charged, once. */
  readonly doubtful: number;
  /** How many refunds the store did not answer. */
  readonly lostRefunds: number;
}

const salt = 'the salt of the tests';
export const networkOf = (address: string): string =>
  createHmac('sha256', salt).update(address).digest('base64url').slice(0, 22);
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const minuteOf = (time: number): number => Math.floor(time / 60_000);

export function createRules(limits: Limits) {
  const keys = new Map<string, Key>();
  const links = new Map<string, { readonly member: string; readonly expiresAt: number }>();
  const counters = new Map<string, Counter>();

  const guestAccount = (address: string, time: number): Account => {
    const daily = limits.guestWindow === 'daily';
    const window = daily ? dayOf(time) : 'lifetime';
    return { item: `guest#${networkOf(address)}#${window}`, limit: limits.guest, daily };
  };
  const memberAccount = (member: string, time: number): Account => ({
    item: `member#${member}#${dayOf(time)}`,
    limit: limits.member,
    daily: true,
  });

  /** Where the caller's requests count, or the code of the 401 that it gets. */
  const identify = ({ address, shows, origin }: Caller, time: number): Account | string => {
    if (shows === undefined) return 'missing_api_key';
    if (shows.startsWith('ltk_')) {
      const key = keys.get(shows);
      const valid = key && !key.revoked && (key.expiresAt === undefined || time < key.expiresAt);
      if (!valid) return 'invalid_api_key';
      if (key.limit === undefined) return memberAccount(key.member, time);
      return { item: `key#${key.id}#${dayOf(time)}`, limit: key.limit, daily: true };
    }
    const link = links.get(address);
    const linked = link && time < link.expiresAt && origin === undefined;
    return linked ? memberAccount(link.member, time) : guestAccount(address, time);
  };

  const counterOf = ({ item }: Account): Counter => {
    const counter = counters.get(item) ?? { used: 0, doubt: 0, minutes: new Map() };
    counters.set(item, counter);
    return counter;
  };

  /** Holds a crowd that came at once against the limits and counts it. What is wrong with it, if anything. */
  const judge = (account: Account, time: number, crowd: Crowd, counts: 'quota' | 'burst alone'): string[] => {
    const counter = counterOf(account);
    const minute = minuteOf(time);
    const before = counter.minutes.get(minute) ?? 0;
    const burstLeft = limits.burst - before;
    const quotaLeft = counts === 'quota' ? Math.max(0, account.limit - counter.used) : Number.POSITIVE_INFINITY;
    const doubt = counter.doubt + crowd.doubtful;
    // A refund makes room in the quota while others are still on their way: whether in time for them, nobody can say.
    const least = Math.max(0, Math.min(crowd.wanting - crowd.doubtful, burstLeft - doubt, quotaLeft - doubt));
    const most = Math.min(crowd.wanting, burstLeft, quotaLeft + crowd.refunded);
    const faults: string[] = [];
    if (crowd.passed < least || crowd.passed > most) {
      faults.push(`${account.item}: of ${crowd.wanting} at once ${crowd.passed} passed, not ${least} to ${most}`);
    }
    const taken = crowd.passed + doubt;
    for (const code of new Set(crowd.refusals)) {
      // Where both are spent, it is the quota that is named.
      const spent = code === 'rate_limited' ? quotaLeft > 0 && taken >= burstLeft : taken >= quotaLeft;
      if (!spent) faults.push(`${account.item}: ${code} with room left`);
    }
    counter.used += crowd.passed - (counts === 'quota' ? crowd.refunded : 0);
    counter.doubt = doubt + Math.min(crowd.refunded, crowd.lostRefunds);
    if (crowd.passed > 0) counter.minutes.set(minute, before + crowd.passed);
    return faults;
  };

  return {
    keys,
    links,
    identify,
    guestAccount,
    judge,
    /** Where countings of tokens count. */
    tokenAccount: ({ item, limit }: Account): Account => ({
      item: `count_tokens#${item.slice(0, item.lastIndexOf('#'))}`,
      limit,
      daily: false,
    }),
    standing: ({ item }: Account) => ({ used: counters.get(item)?.used ?? 0, doubt: counters.get(item)?.doubt ?? 0 }),
    /** Every counter that anything was ever counted in. */
    counted: (): [item: string, counter: Counter][] =>
      [...counters].filter(([, { minutes, doubt }]) => minutes.size > 0 || doubt > 0),
  };
}

export type Rules = ReturnType<typeof createRules>;
