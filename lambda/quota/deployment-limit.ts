import { GatewayError } from '../errors.ts';
import type { Identity } from '../identity/identify.ts';
import { isAnswerLost, type Tallies } from './counter-store.ts';
import { createParts, mostParts, type Part } from './parts.ts';
import type { Charge } from './quota.ts';
import type { LimitName, Wording } from './refusal.ts';
import { dayOf } from './time.ts';
import { allAnswered } from './wording.ts';

/** The percentage used of each limit that a request counts towards, as that request saw it. */
export type LimitsUsed = Readonly<Partial<Record<LimitName, number>>>;

export interface DeploymentLimit {
  /**
   * Counts a charged request towards its caller's limits. Refunding the returned charge takes these counts back as well.
   * If a limit is spent or the store does not answer, throws a `service_unavailable` that refunds.
   */
  count(identity: Identity, charge: Charge): Promise<{ readonly charge: Charge; readonly used: LimitsUsed }>;
}

interface Dependencies extends Wording {
  readonly tallies: Tallies;
  readonly dailyLimit: number | undefined;
  readonly guestDailyLimit: number | undefined;
  readonly now: () => number;
  /** Called when the store's answer is lost, so that a count may stand without a request. */
  readonly onLost: (error: unknown, limit: LimitName) => void;
}

interface Taken {
  readonly name: LimitName;
  /** In percent. */
  readonly used: number;
  readonly giveBack: () => Promise<unknown>;
}

/**
 * Counts the requests of all callers together. A write whose answer was lost is repeated, and may count twice: no bill needs to
 * be that exact, and so a count costs one unit at any rate.
 */
export function createDeploymentLimit(dependencies: Dependencies): DeploymentLimit {
  const { dailyLimit, guestDailyLimit = dailyLimit && Math.ceil(dailyLimit / 5), now } = dependencies;
  const takesFrom = (name: LimitName, limit: number | undefined) =>
    limit === undefined ? [] : [createTake(name, limit, dependencies)];
  const forMembers = takesFrom('daily_limit', dailyLimit);
  // The guests' limit comes first: a guest that it refuses must not use up the limit of all, not even for a moment.
  const forGuests = [...takesFrom('guest_daily_limit', guestDailyLimit), ...forMembers];

  return {
    count: async (identity, charge) => {
      const taken: Taken[] = [];
      const giveBack = () => Promise.all(taken.map((one) => one.giveBack()));
      const time = now();
      try {
        for (const take of identity.kind === 'guest' ? forGuests : forMembers) taken.push(await take(time));
      } catch (error) {
        await giveBack();
        throw error instanceof GatewayError ? error.refunded() : error;
      }
      const refund = async () => (await Promise.all([charge.refund(), giveBack()]))[0];
      let refunded: ReturnType<typeof refund> | undefined;
      return {
        used: Object.fromEntries(taken.map(({ name, used }) => [name, used])),
        charge: { ...charge, refund: () => (refunded ??= refund()) },
      };
    },
  };
}

/** Takes one from a limit, each part of which holds its share. */
function createTake(name: LimitName, limit: number, { tallies, now, onLost, ...wording }: Dependencies) {
  const count = Math.min(mostParts, limit);
  const partsOf = createParts(name, count, now);
  const mostOf = (index: number) => Math.floor(limit / count) + (index < limit % count ? 1 : 0);

  return async (time: number): Promise<Taken> => {
    const { period, resetAt, expiresAt } = dayOf(time);
    const takeFrom = async ({ index, item }: Part): Promise<Taken | undefined> => {
      const sum = await tallies.add(item, 1, expiresAt, mostOf(index)).catch((error) => {
        if (isAnswerLost(error)) onLost(error, name);
        throw error;
      });
      if (sum === undefined) return undefined;
      const giveBack = () => tallies.add(item, -1, expiresAt).catch((error) => onLost(error, name));
      return { name, used: (100 * sum) / mostOf(index), giveBack };
    };

    const [first, ...others] = partsOf(period);
    const taken = first && (await takeFrom(first));
    if (taken) return taken;
    // The others are probably full as well: reading them is cheaper than writes that are refused.
    const sums = await Promise.all(others.map(({ item }) => tallies.read(item)));
    for (const part of others.filter(({ index }, at) => (sums[at] ?? 0) < mostOf(index))) {
      const found = await takeFrom(part);
      if (found) return found;
    }
    throw allAnswered(name, resetAt, time, wording);
  };
}
