import { hash } from 'node:crypto';
import type { Budget, BudgetWindow } from '../budget/budget-window.ts';

/** What every issued key begins with. */
export const keyPrefix = 'ltk_';

/** The hash under which a key is stored. Keys have 256 random bits, so a plain SHA-256 can't be reversed by guessing. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

/** An issued key as stored: under its hash, without the key itself. Times are epoch milliseconds. */
export interface KeyRecord {
  readonly id: string;
  readonly member: string;
  readonly label?: string | undefined;
  /** Requests a day for this key alone, instead of a share of its member's. */
  readonly limit?: number | undefined;
  /** What this key alone may spend, in micros, instead of a share of its member's budget. */
  readonly budget?: number | undefined;
  /** How long that is for; there if `budget` is. */
  readonly budgetWindow?: BudgetWindow | undefined;
  /** The only public models that it may use. */
  readonly models?: readonly string[] | undefined;
  /** Requests a minute for this key alone. */
  readonly burst?: number | undefined;
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  /** Whether its owner may move that end by signing in. Nobody moves one that an operator set, or a terminal began with. */
  readonly renewable?: true | undefined;
  readonly revokedAt?: number | undefined;
}

/** Whether a key has counters of its own, instead of a share of its member's: one thing of its own gives it all of them. */
export function hasOwnCounters({ limit, budget, burst }: Pick<KeyRecord, 'limit' | 'budget' | 'burst'>): boolean {
  return (limit ?? budget ?? burst) !== undefined;
}

export type KeyState = 'live' | 'revoked' | 'expired';

/** A revoked key stays revoked, whether or not it would have expired. */
export function stateOf({ revokedAt, expiresAt }: Pick<KeyRecord, 'revokedAt' | 'expiresAt'>, now: number): KeyState {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'live';
}

/** What a key with counters of its own was given. What it was not given is as its member has it. */
export interface OwnLimits {
  readonly limit?: number | undefined;
  readonly burst?: number | undefined;
  readonly budget?: Budget | undefined;
}

/** The limits of a key's own; undefined for one that shares its member's counters. */
export function ownLimitsOf({ limit, burst, budget, budgetWindow }: KeyRecord): OwnLimits | undefined {
  if (!hasOwnCounters({ limit, budget, burst })) return undefined;
  return {
    limit,
    burst,
    ...(budget !== undefined && budgetWindow && { budget: { amount: budget, window: budgetWindow } }),
  };
}

/** What a new key is for. */
export type KeyRequest = Omit<KeyRecord, 'id' | 'createdAt' | 'revokedAt'>;

export interface KeyIssuing {
  readonly now: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
}

export interface IssuedKey {
  /** The key itself. It is never seen again. */
  readonly key: string;
  readonly record: KeyRecord;
}

/** Makes a new random key and stores its hash. */
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
