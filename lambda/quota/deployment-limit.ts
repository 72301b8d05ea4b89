import { GatewayError } from '../http/errors.ts';
import type { Identity } from '../identity/identity.ts';
import type { Charge } from './charge.ts';
import type { Counters, CounterWindow } from './counters.ts';
import { dayOf, minuteOf } from './policy.ts';
import { allAnswered, type Wording } from './refusal.ts';

/*
 * A limit of the whole deployment is counted in several items, so that none of them is hot. Each holds its part of the limit
 * and takes no more; a request that finds one full looks for room in the others before it is refused. So all of them together
 * are as exact as one, and a limit that is changed within a day goes on with what has been counted.
 */

/** They serve a thousand requests a second, and a sixth of that for one write unit each: see docs/scaling.md. */
export const parts = 8;

/** By the reason that a refusal is logged with. */
export type LimitName = 'daily_limit' | 'guest_daily_limit';

/** What is used of the limits that a request counts towards, in percent, as far as the request has seen. */
export type LimitsUsed = Readonly<Partial<Record<LimitName, number>>>;

export interface DeploymentLimit {
  /**
   * Counts a charged request towards the limits that hold for its caller, and makes a refund of the charge take that back as
   * well. Throws `service_unavailable`, to be refunded, where one of them is spent or nobody knows.
   */
  count(identity: Identity, charge: Charge): Promise<{ readonly charge: Charge; readonly used: LimitsUsed }>;
}

interface Dependencies extends Wording {
  readonly counters: Counters;
  readonly dailyLimit: number | undefined;
  readonly guestDailyLimit: number | undefined;
  readonly now: () => number;
  readonly createToken: () => string;
  /** Told where nobody knows what the store has done, so that a count may stand for nothing. */
  readonly onLost: (error: unknown, limit: LimitName) => void;
}

interface Taken {
  readonly name: LimitName;
  readonly item: string;
  readonly token: string;
  readonly used: number;
}

/** The limits of the whole deployment; undefined where none is set, so that nothing is counted for them. */
export function createDeploymentLimit(dependencies: Dependencies): DeploymentLimit | undefined {
  const { dailyLimit, now, onLost, counters } = dependencies;
  const { guestDailyLimit = dailyLimit && Math.ceil(dailyLimit / 5) } = dependencies;
  if (guestDailyLimit === undefined) return undefined;
  // The guests' first: what they are refused shall not take from the others' limit, not even for a moment.
  const ofGuests = createTake('guest_daily_limit', guestDailyLimit, dependencies);
  const ofAll = dailyLimit === undefined ? [] : [createTake('daily_limit', dailyLimit, dependencies)];

  const giveBack = async (taken: readonly Taken[]) => {
    const refund = ({ name, item, token }: Taken) => counters.refund(item, token).catch((error) => onLost(error, name));
    await Promise.all(taken.map(refund));
  };

  return {
    count: async (identity, charge) => {
      const taken: Taken[] = [];
      const time = now();
      try {
        for (const take of identity.kind === 'guest' ? [ofGuests, ...ofAll] : ofAll) taken.push(await take(time));
      } catch (error) {
        await giveBack(taken);
        throw error;
      }
      let undone: ReturnType<Charge['refund']> | undefined;
      const refund = async () => (await Promise.all([charge.refund(), giveBack(taken)]))[0];
      return {
        used: Object.fromEntries(taken.map(({ name, used }) => [name, used])),
        charge: {
          figures: charge.figures,
          refund: () => {
            undone ??= refund();
            return undone;
          },
        },
      };
    },
  };
}

function createTake(name: LimitName, limit: number, { counters, createToken, onLost, ...wording }: Dependencies) {
  // In turns, from wherever this process begins: evenly filled, few are full long before the others.
  let turn = Buffer.from(createToken(), 'base64')[0] ?? 0;
  let spentOn: string | undefined;

  const charge = async (part: CounterWindow, token: string): Promise<Taken | undefined> => {
    const { granted, used } = await counters.charge(part, token).catch((error) => {
      if (error instanceof GatewayError && error.reason === 'answer_lost') onLost(error, name);
      throw error;
    });
    return granted ? { name, item: part.item, token, used: (100 * used) / part.limit } : undefined;
  };
  const hasRoom = async (part: CounterWindow) => (await counters.read(part.item)) < part.limit;

  const find = async (all: readonly CounterWindow[], day: string, token: string) => {
    const [first, ...others] = all;
    // Where the limit was spent a moment ago, reading is cheaper than writing in vain.
    const isSpent = spentOn === day;
    const taken = first && !isSpent ? await charge(first, token) : undefined;
    if (taken) return taken;
    const left = isSpent ? all : others;
    const room = await Promise.all(left.map(hasRoom));
    for (const part of left.filter((_, index) => room[index])) {
      const found = await charge(part, token);
      if (found) return found;
    }
    return undefined;
  };

  return async (time: number): Promise<Taken> => {
    const { day, resetAt } = dayOf(time);
    turn += 1;
    const taken = await find(partsOf(name, limit, turn, time), day, createToken()).catch((error) => {
      throw error instanceof GatewayError ? error.refunded() : error;
    });
    spentOn = taken ? undefined : day;
    if (taken) return taken;
    const { code, message, ...options } = allAnswered(name === 'guest_daily_limit', resetAt, time, wording);
    throw new GatewayError(code, message, { ...options, reason: name, refund: true });
  };
}

/** The day's items of a limit, the one whose turn it is first. */
function partsOf(name: LimitName, limit: number, turn: number, time: number): CounterWindow[] {
  const { day, resetAt, expiresAt } = dayOf(time);
  const count = Math.min(parts, limit);
  return Array.from({ length: count }, (_, position) => {
    const index = (turn + position) % count;
    return {
      item: `${name}#${day}#${index}`,
      limit: Math.floor(limit / count) + (index < limit % count ? 1 : 0),
      burst: Number.MAX_SAFE_INTEGER,
      minute: minuteOf(time),
      resetAt,
      expiresAt,
    };
  });
}
