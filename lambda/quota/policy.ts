import type { Identity } from '../identity/identity.ts';
import type { Counters, CounterWindow } from './counter-store.ts';

export interface Limits {
  readonly guestLimit: number;
  readonly guestWindow: 'lifetime' | 'daily';
  readonly memberLimit: number;
  readonly burstLimit: number;
}

const minuteLength = 60_000;
const dayLength = 86_400_000;

/** The counter for a request of this identity. */
export function quotaWindow(identity: Identity, now: number, limits: Limits): CounterWindow {
  const counter = { limit: limitOf(identity, limits), burst: limits.burstLimit, minute: minuteOf(now) };
  if (identity.kind === 'guest' && limits.guestWindow === 'lifetime') {
    return { ...counter, item: ownerOf(identity) };
  }
  return { ...counter, item: ownerOf(identity), ...dayOf(now) };
}

/** A day in UTC, as a period of counters. */
export function dayOf(now: number) {
  const period = Math.floor(now / dayLength);
  const resetAt = (period + 1) * dayLength;
  // Kept for a day more, for refunds that come after midnight.
  return { period, resetAt, expiresAt: resetAt + dayLength };
}

/** The owner of a counter's item; undefined for one that counts no quota. */
export function readCounterName(item: string): CounterName | undefined {
  const [, kind, name] = /^(guest|key|member)#(.+)$/.exec(item) ?? [];
  return name === undefined ? undefined : { kind: kind as CounterName['kind'], name };
}

export interface CounterName {
  readonly kind: 'guest' | 'key' | 'member';
  /** A network's hash, a key's id or a member. */
  readonly name: string;
}

/** The counter for count_tokens: no quota, and a burst limit of its own, so that counting can't starve requests. */
export function tokenCountWindow(identity: Identity, now: number, limits: Limits): CounterWindow {
  return {
    item: `count_tokens#${ownerOf(identity)}`,
    limit: Number.MAX_SAFE_INTEGER,
    burst: limits.burstLimit,
    minute: minuteOf(now),
    expiresAt: now + dayLength,
  };
}

export function minuteOf(now: number): number {
  return Math.floor(now / minuteLength);
}

/** Whole seconds until the next minute begins. */
export function secondsToNextMinute(now: number): number {
  return secondsUntil((minuteOf(now) + 1) * minuteLength, now);
}

/** Whole seconds, rounded up, so that nobody who waits that long comes early. */
export function secondsUntil(time: number, now: number): number {
  return Math.max(0, Math.ceil((time - now) / 1000));
}

/** A member, or one of its keys that has a limit of its own. */
interface Owner {
  readonly member: string;
  readonly keyId?: string;
  readonly ownLimit?: number | undefined;
}

interface MemberUsage {
  readonly used: number;
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends. */
  readonly resetAt: number;
}

interface UsageDependencies {
  readonly counters: Pick<Counters, 'read'>;
  readonly memberLimit: number;
}

/** Reads what has been used of today's window. */
export async function readMemberUsage(
  { counters, memberLimit }: UsageDependencies,
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

function limitOf(identity: Identity, limits: Limits): number {
  if (identity.kind === 'guest') return limits.guestLimit;
  return identity.ownLimit ?? limits.memberLimit;
}

/** A member's keys share one counter, except a key that was issued with a limit of its own. */
function ownerOf(identity: Identity): string {
  if (identity.kind === 'guest') return `guest#${identity.networkId}`;
  const { member, keyId, ownLimit } = identity;
  return keyId !== undefined && ownLimit !== undefined ? `key#${keyId}` : `member#${member}`;
}
