/** What the store's process reports when it is ready. */
export interface StoreAddresses {
  readonly keys: readonly string[];
  /** Like these, each with a budget that is never used up. */
  readonly keysWithBudget: readonly string[];
  /** For the functions. */
  readonly environment: Readonly<Record<string, string>>;
}

/** These are used in turn, so that none gets more requests a minute than a member would send. One more is for the busy caller. */
export const keysInTurn = 64;
export const keysPerSession = keysInTurn + 1;
/** Enough for a server with a thousand requests a second; and before a session reuses an earlier one's keys, their minute is over. */
export const keyCount = 63 * keysPerSession;
export const keyWithBudgetCount = 16 * keysInTurn;

export const secretIds = { UPSTREAM_SECRET_ID: 'upstream', NETWORK_SALT_SECRET_ID: 'network-salt' };

export const secretTexts = {
  upstream: JSON.stringify({ UPSTREAM_API_KEYS: 'upstream-key' }),
  networkSalt: 'a salt of at least sixteen characters',
};
