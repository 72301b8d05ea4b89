import type { Counters } from './counters.ts';
import { quotaWindow } from './policy.ts';

/** A member, or one of its keys that has a limit of its own. */
export interface Owner {
  readonly member: string;
  readonly keyId?: string;
  readonly ownLimit?: number | undefined;
}

export interface MemberUsage {
  readonly used: number;
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends. */
  readonly resetAt: number;
}

interface Dependencies {
  readonly counters: Pick<Counters, 'read'>;
  readonly memberLimit: number;
}

/** Reads what has been used of today's window. */
export async function readMemberUsage(
  { counters, memberLimit }: Dependencies,
  owner: Owner,
  now: number,
): Promise<MemberUsage> {
  // Guests and bursts play no part in a member's window.
  const limits = { memberLimit, guestLimit: 0, guestWindow: 'daily', burstLimit: 1 } as const;
  const window = quotaWindow({ kind: 'member', ...owner }, now, limits);
  const { limit, resetAt = now } = window;
  const used = await counters.read(window);
  return { used, limit, remaining: Math.max(0, limit - used), resetAt };
}
