import { GatewayError } from '../errors.ts';
import type { Counters, CounterWindow } from '../quota/counter-store.ts';
import { minuteOf, secondsUntil } from '../quota/policy.ts';

/** Live keys of one wallet. */
export const keysPerWallet = 5;
/** How long a message may wait for its signature: milliseconds, as all times here. */
export const challengeLifetime = 5 * 60_000;
/** How long a person stays signed in. */
export const sessionLifetime = 15 * 60_000;
/** How long a network counts as a wallet's member. */
export const linkLifetime = 24 * 3_600_000;

const tenMinutes = 600_000;
const hour = 3_600_000;
const day = 86_400_000;

interface Limit {
  readonly most: number;
  readonly window: number;
  readonly rule: (most: number) => string;
}

/** What a network or a person may do, by the names of its counters. */
const limits = {
  /** Messages to sign. */
  challenges: { most: 60, window: hour, rule: (most) => `a network may ask for ${most} messages an hour` },
  /** Answers of the company's provider; one that signs somebody in is taken back. */
  'sign-ins': { most: 60, window: hour, rule: (most) => `a network may fail to sign in ${most} times an hour` },
  /** Terminals that ask to be signed in. */
  terminals: { most: 20, window: hour, rule: (most) => `a network may start ${most} terminals an hour` },
  /** Codes of terminals that a person has typed; one that was right is taken back. */
  codes: { most: 10, window: tenMinutes, rule: (most) => `a network may mistype ${most} codes in ten minutes` },
  /** Keys and links. Wallets cost nothing to make and each brings a daily quota: only the limit per network bounds that. */
  'grants-network': { most: 30, window: day, rule: (most) => `a network gets ${most} keys and links a day` },
  'grants-person': { most: 10, window: day, rule: (most) => `a person gets ${most} keys and links a day` },
} as const satisfies Record<string, Limit>;

type Limited = keyof typeof limits;

/** What the members of one way of signing in may have. */
interface MemberRules {
  /** Live keys of a member. */
  readonly keysAllowed: number;
  /** Milliseconds until a key expires, unless its member signs in and renews it; undefined if keys don't. */
  readonly keyLifetime?: number;
  /**
   * Whether the network of whoever signs in counts as its member, and its grants are counted. Anyone can make any number of
   * members out of nothing there.
   */
  readonly byNetwork: boolean;
}

/** Whose members they are: by its name a way recognizes its own, and all else knows members only. */
export interface WayRules {
  owns(member: string): boolean;
  readonly rules: MemberRules;
}

export type FindRules = (member: string) => MemberRules;

/** The rules for a member whose way is no longer offered: nothing new. */
const none: MemberRules = { keysAllowed: 0, byNetwork: false };

export const createFindRules =
  (ways: readonly WayRules[]): FindRules =>
  (member) =>
    ways.find((way) => way.owns(member))?.rules ?? none;

export type Limits = ReturnType<typeof createLimits>;

interface Grant {
  /** Takes back what was counted, for a request that is refused after all. */
  undo(): Promise<void>;
}

interface Dependencies {
  readonly counters: Counters;
  readonly findRules: FindRules;
  readonly now: () => number;
  readonly createToken: () => string;
}

/** Limits what one network and one member may ask for. A refused request is not counted. */
export function createLimits({ counters, findRules, now, createToken }: Dependencies) {
  const refuse = ({ rule, resetAt }: Window): never => {
    const seconds = secondsUntil(resetAt, now());
    const message = `That was too often: ${rule}. Please try again ${inWords(seconds)}.`;
    throw new GatewayError('rate_limited', message, { headers: { 'retry-after': String(seconds) } });
  };

  /** Counts once what is limited, or throws `rate_limited`. */
  const count = async (what: Limited, id: string): Promise<Grant> => {
    const window = windowOf(what, id, now());
    const token = createToken();
    const { granted } = await counters.charge(window, token);
    if (!granted) refuse(window);
    return { undo: async () => void (await counters.refund(window, token)) };
  };

  return {
    count,

    /** Counts a key or a link for both its network and its member, or throws `rate_limited`. */
    async countGrant(networkId: string, member: string): Promise<Grant> {
      // Read first, so that only a race for a member's last grant needs an undo.
      const window = windowOf('grants-person', member, now());
      if ((await counters.read(window)).used >= window.limit) refuse(window);
      if (!findRules(member).byNetwork) return count('grants-person', member);
      const network = await count('grants-network', networkId);
      try {
        const own = await count('grants-person', member);
        return {
          undo: async () => {
            await Promise.all([network.undo(), own.undo()]);
          },
        };
      } catch (error) {
        await network.undo();
        throw error;
      }
    },
  };
}

interface Window extends CounterWindow {
  readonly rule: string;
  readonly resetAt: number;
}

/** Counters also limit the charges of one minute. There is no such limit here. */
const burst = Number.MAX_SAFE_INTEGER;

function windowOf(what: Limited, id: string, now: number): Window {
  const { most, window, rule } = limits[what];
  const period = Math.floor(now / window);
  const resetAt = (period + 1) * window;
  return {
    item: `${what}#${id}`,
    period,
    limit: most,
    burst,
    minute: minuteOf(now),
    rule: rule(most),
    resetAt,
    expiresAt: resetAt + day,
  };
}

function inWords(seconds: number): string {
  if (seconds < 90) return `in ${seconds} second${seconds === 1 ? '' : 's'}`;
  return seconds < 90 * 60 ? `in ${Math.ceil(seconds / 60)} minutes` : `in ${Math.ceil(seconds / 3600)} hours`;
}
