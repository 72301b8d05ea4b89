import type { Counters } from '../quota/counters.ts';
import { readMemberUsage } from '../quota/member-usage.ts';
import { secondsUntil } from '../quota/policy.ts';

export interface MemberQuota {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** The quota left today for all keys and links of a member together. */
export type ReadQuota = (member: string) => Promise<MemberQuota>;

interface Dependencies {
  readonly counters: Pick<Counters, 'read'>;
  readonly memberLimit: number;
  readonly now: () => number;
}

export function createReadQuota({ counters, memberLimit, now }: Dependencies): ReadQuota {
  return async (member) => {
    const time = now();
    const { limit, remaining, resetAt } = await readMemberUsage({ counters, memberLimit }, { member }, time);
    return { limit, remaining, resetSeconds: secondsUntil(resetAt, time) };
  };
}
