import { costOf, reservedFor, sumOf } from '../cost.ts';
import { type Account, type Fact, mostIn } from '../facts.ts';
import { isPriced, isRecorded } from '../plan.ts';
import type { Write } from '../store/store.ts';
import type { History } from '../world.ts';
import type { Invariants } from './invariant.ts';

/** Who may have how many. */
export const limits: Invariants = {
  'limits kept': {
    sentence: 'No more is counted than a limit allows, and nobody is refused with room left.',
    *breaches({ history, accounts }) {
      const burst = Number(history.plan.settings.BURST_LIMIT ?? 20);
      for (const account of accounts) {
        const { item, facts, caller, before } = account;
        const limit = limitOf(account, history);
        const [used, inMinute] = [mostIn(history, item, /^u/), mostIn(history, item, /^n/)];
        if (used > limit) yield `${item} has used ${used} of ${limit}`;
        if (inMinute > burst) yield `${item} has ${inMinute} in a minute`;
        if (caller.kind === 'budget' && history.store.writes.some((write) => overdraws(write, account)))
          yield `${item} reserves more than its budget`;
        const taken = facts.map((fact) => Math.max(reservedFor(fact), costOf(fact, history.plan).most));
        const fits = caller.kind !== 'budget' || sumOf(taken) <= caller.budget;
        const hasRoom = before + facts.length <= limit && facts.length <= burst && fits;
        if (hasRoom && facts.some(({ seen }) => seen.status === 429)) yield `${item} is refused with room left`;
        if (caller.kind === 'budget') yield* overBudget(account);
      }
    },
  },

  'days kept': {
    sentence:
      'No day has more requests than DAILY_LIMIT, those of guests than GUEST_DAILY_LIMIT, or fewer than none, and nobody is refused with room left.',
    *breaches({ history: { plan, store }, facts }) {
      const { DAILY_LIMIT = Number.POSITIVE_INFINITY, GUEST_DAILY_LIMIT = Math.ceil(Number(DAILY_LIMIT) / 5) } =
        plan.settings;
      // What is lost may be added twice.
      const isSure = plan.storeFaults.length === 0;
      const limits = { requests: Number(DAILY_LIMIT), guests: Number(GUEST_DAILY_LIMIT) };
      for (const [day, counts] of store.counters) {
        if (!day.startsWith('deployment#')) continue;
        for (const [name, most] of Object.entries(limits)) {
          const count = Number(counts[name]?.N ?? 0);
          if (count > most || (isSure && count < 0)) yield `${day} has ${count} ${name}`;
        }
      }
      const isRefused = (limit: string) => facts.some(({ lines }) => lines.some(({ reason }) => reason === limit));
      const ofGuests = facts.filter(({ caller }) => caller.kind === 'guest');
      if (isSure && isRefused('daily_limit') && facts.length <= limits.requests) yield 'a day has room left';
      if (isSure && isRefused('guest_daily_limit') && ofGuests.length <= limits.guests)
        yield 'a day of guests has room left';
    },
  },

  'true figures': {
    sentence:
      'The figures in headers are those of the counter at some moment of the request, with a refund if there is one.',
    *breaches({ history, facts, accounts }) {
      for (const { number, seen, plan, text } of facts) {
        const { limit, remaining } = figuresIn(seen);
        if (seen.status !== undefined && !(remaining >= 0 && remaining <= limit))
          yield `${number} has ${remaining} of ${limit} left`;
        // At midnight the headers may be of the next day.
        const isOneDay = history.plan.untilMidnight > hour;
        if (plan.asks === 'for usage' && seen.status === 200 && seen.end === 'whole' && isOneDay) {
          const { requests } = JSON.parse(text);
          if (requests.remaining !== remaining || requests.limit - requests.used !== remaining)
            yield `${number} is told in its body that ${requests.remaining} are left`;
        }
      }
      if (history.plan.storeFaults.length > 0) return;
      for (const account of accounts) {
        if (account.caller.kind !== 'member' && account.caller.kind !== 'guest') continue;
        for (const fact of account.facts) yield* untrueFigures(history, account, fact);
      }
    },
  },
};

const hour = 3_600_000;

/** Whether a charge reserves what the budget does not have. What an answer costs in the end may be more. */
function overdraws({ key, before, after }: Write, { item, caller }: Account): boolean {
  const reserves = Object.keys(after).some((name) => name.startsWith('h') && !(name in before));
  const exceeds = ([name, { N }]: [string, { N?: string }]) =>
    name.startsWith('b') && N !== before[name]?.N && Number(N) > caller.budget;
  return key === item && reserves && Object.entries(after).some(exceeds);
}

/** What was answered although it might have cost more than there is. */
function* overBudget({ facts, caller, item }: Account): Generator<string> {
  for (const fact of facts) {
    const hasPrice = isPriced(fact.plan) && !isRecorded(fact.plan);
    if (hasPrice && fact.tries.length > 0 && reservedFor(fact) > caller.budget)
      yield `${item} has ${fact.number} answered, which its budget does not cover`;
  }
}

function limitOf({ caller }: Account, { plan: { settings } }: History): number {
  if (caller.kind === 'guest') return Number(settings.GUEST_LIMIT ?? 3);
  return caller.kind === 'own limit' ? caller.limit : 50;
}

const figuresIn = ({ headers }: Fact['seen']) => ({
  limit: Number(headers['x-svc-limit']),
  remaining: Number(headers['x-svc-remaining']),
});

function* untrueFigures(history: History, { item, facts, before }: Account, fact: Fact): Generator<string> {
  const { number, seen, plan, charge, tries } = fact;
  const { status = 0 } = seen;
  const { limit, remaining } = figuresIn(seen);
  // What is refused before anybody is known shows the network's figures; where none could be read, nothing is left.
  if (status === 0 || [401, 404, 405].includes(status) || plan.wrong === 'encoding') return;
  if (status >= 500 && remaining === 0) return;
  const isRefunded = charge === 'free' && status >= 500 && tries.length > 0;
  const isAlone = facts.length === 1 && history.plan.untilMidnight > hour;
  if (isRefunded && isAlone && limit - remaining !== before) yield `${number} is shown figures without its refund`;
  const used = usedUntil(history, item, fact);
  if (!used.includes(limit - remaining)) yield `${number} is told that ${limit - remaining} are used, never were`;
}

/** What a counter stood at on the day of an answer, one state after the other, until it was over. */
function usedUntil({ store, plan }: History, item: string, { seen, caller }: Fact): number[] {
  const { answeredAt = 0, ended = 0 } = seen;
  const states = [store.initial.get(item) ?? {}];
  for (const { key, after, time } of store.writes) if (key === item && time <= ended) states.push(after);
  // At midnight it may have left on either day.
  const days = [answeredAt - 100, answeredAt].map((time) => `u${Math.floor(time / (24 * hour))}`);
  const isForEver = caller.kind === 'guest' && plan.settings.GUEST_WINDOW !== 'daily';
  return [0, ...(isForEver ? ['ulifetime'] : days).flatMap((day) => states.map((state) => Number(state[day]?.N ?? 0)))];
}
