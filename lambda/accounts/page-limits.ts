import { minuteOf, secondsUntil } from '../budget/time.ts';
import { GatewayError } from '../errors.ts';
import { isWallet } from '../identity/member.ts';
import { type Counters, createToken } from '../store/counters.ts';

const tenMinutes = 600_000;
const hour = 3_600_000;
const day = 86_400_000;

/** Rate limits, by counter name. Windows are milliseconds. */
const limits = {
  /** Messages to sign. */
  challenges: { most: 60, window: hour, rule: 'a network may ask for 60 messages an hour' },
  /** OIDC callbacks. Successful ones are not counted. */
  'sign-ins': { most: 60, window: hour, rule: 'a network may fail to sign in 60 times an hour' },
  /** Device flows started. */
  terminals: { most: 20, window: hour, rule: 'a network may start 20 terminals an hour' },
  /** User codes typed. Correct ones are not counted. */
  codes: { most: 10, window: tenMinutes, rule: 'a network may mistype 10 codes in ten minutes' },
  /** Keys and links. Wallets are free to create and each has a daily quota, so only the limit per network bounds them. */
  'grants-network': { most: 30, window: day, rule: 'a network gets 30 keys and links a day' },
  'grants-person': { most: 10, window: day, rule: 'a person gets 10 keys and links a day' },
};

type Limited = keyof typeof limits;

export type Limits = ReturnType<typeof createLimits>;

/** Undoes a count, for a request that should not count after all. */
type Undo = () => Promise<void>;

interface Dependencies {
  readonly counters: Pick<Counters, 'charge' | 'refund'>;
  readonly now: () => number;
}

/** Rate limits for networks and members. Refused requests are not counted. */
export function createLimits({ counters, now }: Dependencies) {
  /** Counts one action, or throws `rate_limited`. */
  const count = async (what: Limited, id: string): Promise<Undo> => {
    const window = windowOf(what, id, now());
    const token = createToken();
    const { granted } = await counters.charge(window, token);
    if (!granted) {
      const seconds = secondsUntil(window.resetAt, now());
      const message = `That was too often: ${limits[what].rule}. Please try again ${inWords(seconds)}.`;
      throw new GatewayError('rate_limited', message, { headers: { 'retry-after': String(seconds) } });
    }
    return async () => void (await counters.refund(window, token));
  };

  return {
    count,

    /** Counts a key or a link for both its network and its member, or throws `rate_limited`. */
    async countGrant(networkId: string, member: string): Promise<Undo> {
      const undoOwn = await count('grants-person', member);
      if (!isWallet(member)) return undoOwn;
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

/** No burst limit here. */
const burst = Number.MAX_SAFE_INTEGER;

function windowOf(what: Limited, id: string, now: number) {
  const { most, window } = limits[what];
  const period = Math.floor(now / window);
  const resetAt = (period + 1) * window;
  return {
    item: `${what}#${id}`,
    period,
    limit: most,
    burst,
    minute: minuteOf(now),
    resetAt,
    expiresAt: resetAt + day,
  };
}

function inWords(seconds: number): string {
  if (seconds < 90) return `in ${seconds} second${seconds === 1 ? '' : 's'}`;
  return seconds < 90 * 60 ? `in ${Math.ceil(seconds / 60)} minutes` : `in ${Math.ceil(seconds / 3600)} hours`;
}
