import { minuteOf, secondsUntil } from '../budget/time.ts';
import { GatewayError } from '../errors.ts';
import { isWallet } from '../identity/member.ts';
import { type Counters, createToken } from '../store/counters.ts';

/** Times are milliseconds. */
const tenMinutes = 600_000;
const hour = 3_600_000;
const day = 86_400_000;

/** What a network or a person may do, by the names of its counters. */
const limits = {
  /** Messages to sign. */
  challenges: { most: 60, window: hour, rule: 'a network may ask for 60 messages an hour' },
  /** Answers of the company's provider; one that signs somebody in is taken back. */
  'sign-ins': { most: 60, window: hour, rule: 'a network may fail to sign in 60 times an hour' },
  /** Terminals that ask to be signed in. */
  terminals: { most: 20, window: hour, rule: 'a network may start 20 terminals an hour' },
  /** Codes of terminals that a person has typed; one that was right is taken back. */
  codes: { most: 10, window: tenMinutes, rule: 'a network may mistype 10 codes in ten minutes' },
  /** Keys and links. Wallets cost nothing to make and each brings a daily quota: only the limit per network bounds that. */
  'grants-network': { most: 30, window: day, rule: 'a network gets 30 keys and links a day' },
  'grants-person': { most: 10, window: day, rule: 'a person gets 10 keys and links a day' },
};

type Limited = keyof typeof limits;

export type Limits = ReturnType<typeof createLimits>;

/** Takes back what was counted, for a request that is refused after all. */
type Undo = () => Promise<void>;

interface Dependencies {
  readonly counters: Pick<Counters, 'charge' | 'refund'>;
  readonly now: () => number;
}

/** Limits what one network and one member may ask for. A refused request is not counted. */
export function createLimits({ counters, now }: Dependencies) {
  /** Counts once what is limited, or throws `rate_limited`. */
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

/** Counters also limit the charges of one minute. There is no such limit here. */
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
