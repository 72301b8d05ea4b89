import { hash } from 'node:crypto';
import type { Budget, BudgetWindow } from '../budget/budget-window.ts';

/** Every issued key starts with this. */
export const keyPrefix = 'ltk_';

/** The hash that a key is stored under. Keys have 256 random bits, so plain SHA-256 is safe from guessing. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

/** An issued key as stored, without the key itself. Times are epoch milliseconds. */
export interface KeyRecord {
  readonly id: string;
  readonly member: string;
  readonly label?: string | undefined;
  /** Requests a day for this key alone, instead of sharing its member's quota. */
  readonly limit?: number | undefined;
  /** In micros, for this key alone, instead of sharing its member's budget. */
  readonly budget?: number | undefined;
  /** Present if `budget` is. */
  readonly budgetWindow?: BudgetWindow | undefined;
  /** The public models that the key is restricted to, if it is. */
  readonly models?: readonly string[] | undefined;
  /** Requests a minute for this key alone. */
  readonly burst?: number | undefined;
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  /** Whether signing in can extend `expiresAt`. Not for an end that an operator set, or for the key of a device sign-in. */
  readonly renewable?: true | undefined;
  readonly revokedAt?: number | undefined;
}

/** Whether a key has its own counters instead of sharing its member's. A single limit of its own is enough for that. */
export function hasOwnCounters({ limit, budget, burst }: Pick<KeyRecord, 'limit' | 'budget' | 'burst'>): boolean {
  return (limit ?? budget ?? burst) !== undefined;
}

export type KeyState = 'live' | 'revoked' | 'expired';

export function stateOf({ revokedAt, expiresAt }: Pick<KeyRecord, 'revokedAt' | 'expiresAt'>, now: number): KeyState {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'live';
}

/** The limits of a key with its own counters. A limit that is absent falls back to its member's. */
export interface OwnLimits {
  readonly limit?: number | undefined;
  readonly burst?: number | undefined;
  readonly budget?: Budget | undefined;
}

/** Undefined for a key that shares its member's counters. */
export function ownLimitsOf({ limit, burst, budget, budgetWindow }: KeyRecord): OwnLimits | undefined {
  if (!hasOwnCounters({ limit, budget, burst })) return undefined;
  return {
    limit,
    burst,
    ...(budget !== undefined && budgetWindow && { budget: { amount: budget, window: budgetWindow } }),
  };
}

/** The details of a key to issue. */
export type KeyRequest = Omit<KeyRecord, 'id' | 'createdAt' | 'revokedAt'>;

export interface KeyIssuing {
  readonly now: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
}

export interface IssuedKey {
  /** The key itself, which is never shown again. */
  readonly key: string;
  readonly record: KeyRecord;
}

/** Creates a random key and stores its hash. */
export async function issueKey(
  store: { put(hash: string, record: KeyRecord): Promise<void> },
  request: KeyRequest,
  issuing: KeyIssuing,
): Promise<IssuedKey> {
  const { member, label, limit, budget, budgetWindow, models, burst, expiresAt, renewable } = request;
  const key = keyPrefix + randomText(issuing, 32);
  const id = `key_${randomText(issuing, 9)}`;
  const own = { limit, budget, budgetWindow, models, burst, expiresAt, renewable };
  const record = { id, member, label, ...own, createdAt: issuing.now() };
  await store.put(hashKey(key), record);
  return { key, record };
}

function randomText({ randomBytes }: KeyIssuing, size: number): string {
  return Buffer.from(randomBytes(size)).toString('base64url');
}
