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

/** Messages to sign per network and hour, and sign-ins with the company's account that fail. */
const challengesPerNetwork = 60;
const failuresPerNetwork = 60;
/**
 * Keys and links that one network or one member gets in a day. Wallets cost nothing to make and each brings a daily quota: only
 * the limit per network bounds that.
 */
const grantsPerNetwork = 30;
const grantsPerMember = 10;

/** Terminals per network and hour; and codes of terminals that a network may mistype in ten minutes. */
const terminalsPerNetwork = 20;
const wrongCodesPerNetwork = 10;

const tenMinutes = 600_000;
const hour = 3_600_000;
const day = 86_400_000;

/** What the members of one way of signing in may have. */
export interface MemberRules {
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

export interface Limits {
  /** Counts a message to sign, or throws `rate_limited`. */
  countChallenge(networkId: string): Promise<void>;
  /** Counts an answer of the company's provider, or throws `rate_limited`. One that signs somebody in is taken back. */
  countSignIn(networkId: string): Promise<Grant>;
  /** Counts a key or a link, or throws `rate_limited`. */
  countGrant(networkId: string, member: string): Promise<Grant>;
  /** Counts a terminal that asks to be signed in, or throws `rate_limited`. */
  countTerminal(networkId: string): Promise<void>;
  /** Counts a terminal's code that a person has typed, or throws `rate_limited`. One that was right is taken back. */
  countCode(networkId: string): Promise<Grant>;
}

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

interface Limit {
  readonly name: string;
  readonly most: number;
  readonly window: number;
  readonly rule: string;
}

/** Limits what one network and one member may ask for. A refused request is not counted. */
export function createLimits({ counters, findRules, now, createToken }: Dependencies): Limits {
  const refuse = ({ rule }: Limit, resetAt: number): never => {
    const seconds = secondsUntil(resetAt, now());
    const message = `That was too often: ${rule}. Please try again ${inWords(seconds)}.`;
    throw new GatewayError('rate_limited', message, { headers: { 'retry-after': String(seconds) } });
  };

  const count = async (limit: Limit): Promise<Grant> => {
    const window = createWindow(limit, now());
    const token = createToken();
    const { granted } = await counters.charge(window, token);
    if (!granted) refuse(limit, window.resetAt);
    return { undo: async () => void (await counters.refund(window, token)) };
  };

  return {
    async countChallenge(networkId) {
      const rule = `a network may ask for ${challengesPerNetwork} messages an hour`;
      await count({ name: `challenges#${networkId}`, most: challengesPerNetwork, window: hour, rule });
    },

    countSignIn(networkId) {
      const rule = `a network may fail to sign in ${failuresPerNetwork} times an hour`;
      return count({ name: `sign-ins#${networkId}`, most: failuresPerNetwork, window: hour, rule });
    },

    async countTerminal(networkId) {
      const rule = `a network may start ${terminalsPerNetwork} terminals an hour`;
      await count({ name: `terminals#${networkId}`, most: terminalsPerNetwork, window: hour, rule });
    },

    countCode(networkId) {
      const rule = `a network may mistype ${wrongCodesPerNetwork} codes in ten minutes`;
      return count({ name: `codes#${networkId}`, most: wrongCodesPerNetwork, window: tenMinutes, rule });
    },

    async countGrant(networkId, member) {
      const ofNetwork = grantLimit('network', networkId, grantsPerNetwork);
      const ofMember = grantLimit('person', member, grantsPerMember);
      // Read first, so that only a race for a member's last grant needs an undo.
      const window = createWindow(ofMember, now());
      if ((await counters.read(window)).used >= grantsPerMember) refuse(ofMember, window.resetAt);
      if (!findRules(member).byNetwork) return count(ofMember);
      const network = await count(ofNetwork);
      try {
        const own = await count(ofMember);
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

function grantLimit(kind: 'network' | 'person', id: string, most: number): Limit {
  return { name: `grants-${kind}#${id}`, most, window: day, rule: `a ${kind} gets ${most} keys and links a day` };
}

/** Counters also limit the charges of one minute. There is no such limit here. */
const burst = Number.MAX_SAFE_INTEGER;

function createWindow({ name, most, window }: Limit, now: number): CounterWindow & { readonly resetAt: number } {
  const period = Math.floor(now / window);
  const resetAt = (period + 1) * window;
  return { item: name, period, limit: most, burst, minute: minuteOf(now), resetAt, expiresAt: resetAt + day };
}

function inWords(seconds: number): string {
  if (seconds < 90) return `in ${seconds} second${seconds === 1 ? '' : 's'}`;
  return seconds < 90 * 60 ? `in ${Math.ceil(seconds / 60)} minutes` : `in ${Math.ceil(seconds / 3600)} hours`;
}
