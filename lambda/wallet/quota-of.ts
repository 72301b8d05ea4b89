import type { Counters } from '../quota/counters.ts';
import { quotaWindow, secondsUntil } from '../quota/policy.ts';

export interface MemberQuota {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** What is left today for all keys and links of a member together. */
export type ReadQuota = (member: string) => Promise<MemberQuota>;

interface Dependencies {
  readonly counters: Pick<Counters, 'read'>;
  readonly memberLimit: number;
  readonly now: () => number;
}

export function createReadQuota({ counters, memberLimit, now }: Dependencies): ReadQuota {
  // Guests and bursts play no part in a member's window.
  const limits = { memberLimit, guestLimit: 0, guestWindow: 'daily', burstLimit: 1 } as const;
  return async (member) => {
    const time = now();
    const { item, limit, resetAt = time } = quotaWindow({ kind: 'member', member }, time, limits);
    const used = await counters.read(item);
    return { limit, remaining: Math.max(0, limit - used), resetSeconds: secondsUntil(resetAt, time) };
  };
}
