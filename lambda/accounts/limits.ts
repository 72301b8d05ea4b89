import { GatewayError } from '../errors.ts';
import { type Counters, type CounterWindow, createToken } from '../quota/counter-store.ts';
import { minuteOf, secondsUntil } from '../quota/policy.ts';
import type { AccountsConfig } from '../settings/config.ts';

/** Times are milliseconds. */
const tenMinutes = 600_000;
const hour = 3_600_000;
const day = 86_400_000;

/** What a member may have, by the way in which it signs in. */
interface MemberRules {
  /** Live keys of a member. */
  readonly keysAllowed: number;
  /** Time until a key expires, unless its member signs in and renews it; undefined if keys don't. */
  readonly keyLifetime?: number;
  /**
   * Whether the network of whoever signs in counts as its member, and its grants are counted. Anyone can make any number of
   * members out of nothing there.
   */
  readonly byNetwork: boolean;
}

export type FindRules = (member: string) => MemberRules;

/** A member's name tells the way: it is the address of a wallet, or what `accountMember` makes of a company's account. */
export function createFindRules(config: Pick<AccountsConfig, 'oidcKeys' | 'oidcKeyDays'>): FindRules {
  const ofWallets = { keysAllowed: 5, byNetwork: true };
  const ofCompany = { keysAllowed: config.oidcKeys, keyLifetime: config.oidcKeyDays * day, byNetwork: false };
  return (member) => (member.startsWith('oidc:') ? ofCompany : ofWallets);
}

/** For what members of another way have. */
export const nothingOfThisKind = () => new GatewayError('not_found', 'Your account has nothing of this kind.');

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

export type Limits = ReturnType<typeof createLimits>;

/** Takes back what was counted, for a request that is refused after all. */
type Undo = () => Promise<void>;

interface Dependencies {
  readonly counters: Pick<Counters, 'charge' | 'refund'>;
  readonly findRules: FindRules;
  readonly now: () => number;
}

/** Limits what one network and one member may ask for. A refused request is not counted. */
export function createLimits({ counters, findRules, now }: Dependencies) {
  const refuse = ({ rule, resetAt }: Window): never => {
    const seconds = secondsUntil(resetAt, now());
    const message = `That was too often: ${rule}. Please try again ${inWords(seconds)}.`;
    throw new GatewayError('rate_limited', message, { headers: { 'retry-after': String(seconds) } });
  };

  /** Counts once what is limited, or throws `rate_limited`. */
  const count = async (what: Limited, id: string): Promise<Undo> => {
    const window = windowOf(what, id, now());
    const token = createToken();
    const { granted } = await counters.charge(window, token);
    if (!granted) refuse(window);
    return async () => void (await counters.refund(window, token));
  };

  return {
    count,

    /** Counts a key or a link for both its network and its member, or throws `rate_limited`. */
    async countGrant(networkId: string, member: string): Promise<Undo> {
      const undoOwn = await count('grants-person', member);
      if (!findRules(member).byNetwork) return undoOwn;
      try {
        const undoNetwork = await count('grants-network', networkId);
        return async () => void (await Promise.all([undoNetwork(), undoOwn()]));
      } catch (error) {
        await undoOwn();
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
