import { createHmac } from 'node:crypto';
import type { Budget } from './ledger.ts';

/*
 * Identity and quota, implemented a second time from what the gateway promises, without its code: which counter a request counts
 * in, how many of a crowd may pass, and the final value of every counter.
 */

export interface Limits {
  readonly guest: number;
  readonly guestWindow: 'lifetime' | 'daily';
  readonly member: number;
  readonly burst: number;
  /** The default of members, for keys without counters of their own. */
  readonly budget?: Budget | undefined;
}

/** What identifies a caller: its address, and perhaps a key. */
export interface Caller {
  readonly address: string;
  /** The key header, if the caller sends one. */
  readonly shows?: string | undefined;
}

interface Key {
  readonly id: string;
  readonly member: string;
  readonly limit?: number | undefined;
  readonly budget?: Budget | undefined;
}

interface Counter {
  used: number;
  /** How many more charges may stand because a response of the store was lost. */
  doubt: number;
  /** Charges by minute since the epoch, refunded or not. */
  readonly minutes: Map<number, number>;
}

/** The counter of a caller at this time. */
export interface Account {
  /** Its key in the table, and the attribute with its count. */
  readonly item: string;
  readonly used: string;
  readonly limit: number;
  /** Whether it resets at midnight. */
  readonly daily: boolean;
  readonly budget?: Budget | undefined;
}

interface Crowd {
  /** How many requests tried to be charged at once. */
  readonly wanting: number;
  readonly passed: number;
  /** How many of the passed ones were refunded. */
  readonly refunded: number;
  /** The error codes of the refused ones. */
  readonly refusals: readonly string[];
  /** How many failed because the store did not answer. Each may have been charged once. */
  readonly doubtful: number;
  /** How many refunds got no response from the store. */
  readonly lostRefunds: number;
}

const salt = 'the salt of the tests';
export const networkOf = (address: string): string =>
  createHmac('sha256', salt).update(address).digest('base64url').slice(0, 22);
const attributeOf = (time: number): string => `u${Math.floor(time / 86_400_000)}`;
const minuteOf = (time: number): number => Math.floor(time / 60_000);

export function createRules(limits: Limits) {
  const keys = new Map<string, Key>();
  const counters = new Map<string, Counter>();

  const guestAccount = (address: string, time: number): Account => {
    const daily = limits.guestWindow === 'daily';
    const used = daily ? attributeOf(time) : 'ulifetime';
    return { item: `guest#${networkOf(address)}`, used, limit: limits.guest, daily };
  };

  /** The counter of the caller's requests, or the error code of its 401. */
  const identify = ({ address, shows }: Caller, time: number): Account | string => {
    if (shows === undefined) return 'missing_api_key';
    if (!shows.startsWith('ltk_')) return guestAccount(address, time);
    const key = keys.get(shows);
    if (!key) return 'invalid_api_key';
    const { id, member, limit = limits.member, budget = limits.budget } = key;
    const isShared = key.limit === undefined && key.budget === undefined;
    const item = isShared ? `member#${member}` : `key#${id}`;
    return { item, used: attributeOf(time), limit, daily: true, budget };
  };

  const counterOf = ({ item, used }: Account): Counter => {
    const name = `${item} ${used}`;
    const counter = counters.get(name) ?? { used: 0, doubt: 0, minutes: new Map() };
    counters.set(name, counter);
    return counter;
  };

  /** Checks concurrent requests against the limits, and counts them. Returns the faults. */
  const judge = (account: Account, time: number, crowd: Crowd, counts: 'quota' | 'burst alone'): string[] => {
    const counter = counterOf(account);
    const minute = minuteOf(time);
    const before = counter.minutes.get(minute) ?? 0;
    const burstLeft = limits.burst - before;
    const quotaLeft = counts === 'quota' ? Math.max(0, account.limit - counter.used) : Number.POSITIVE_INFINITY;
    const doubt = counter.doubt + crowd.doubtful;
    // A refund makes room in the quota while other requests are on their way. Whether they find it is unpredictable.
    const least = Math.max(0, Math.min(crowd.wanting - crowd.doubtful, burstLeft - doubt, quotaLeft - doubt));
    const most = Math.min(crowd.wanting, burstLeft, quotaLeft + crowd.refunded);
    const faults: string[] = [];
    if (crowd.passed < least || crowd.passed > most) {
      faults.push(`${account.item}: of ${crowd.wanting} at once ${crowd.passed} passed, not ${least} to ${most}`);
    }
    const taken = crowd.passed + doubt;
    for (const code of new Set(crowd.refusals)) {
      // If both are used up, the error names the quota.
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
    identify,
    guestAccount,
    judge,
    /** The counter of count_tokens requests. */
    tokenAccount: ({ item, limit }: Account): Account => ({
      ...{ item: `count_tokens#${item}`, used: 'ulifetime', limit, daily: false },
    }),
    stateOf: (account: Account): Readonly<Counter> => counterOf(account),
    /** Every counter that was ever used, by `item attribute`. */
    counted: (): [name: string, counter: Counter][] =>
      [...counters].filter(([, { minutes, doubt }]) => minutes.size > 0 || doubt > 0),
  };
}

export type Rules = ReturnType<typeof createRules>;
