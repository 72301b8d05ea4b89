import { costOf } from '../cost.ts';
import { type Account, type Fact, type Line, mostIn, sumIn } from '../facts.ts';
import type { Write } from '../store/store.ts';
import type { History } from '../world.ts';
import type { Invariants } from './invariant.ts';

/** What requests and answers cost, and who may have how many. */
export const money: Invariants = {
  'charged once': {
    sentence: 'A request is charged exactly once or not at all, and whoever got an answer has paid for it.',
    *breaches({ history, accounts }) {
      for (const { item, facts, before } of accounts) {
        const { least, most } = due(facts);
        const counted = sumIn(history, item, /^u/) - before;
        if (counted < least || counted > most) yield `${item} has ${counted} charges, due are ${least} to ${most}`;
      }
    },
  },

  'written once': {
    sentence: 'No charge, refund or settlement is written twice.',
    *breaches({ history }) {
      const seen = new Set<string>();
      for (const { key, token } of history.store.writes) {
        if (token !== undefined && seen.has(`${key} ${token}`)) yield `${key} is written twice`;
        seen.add(`${key} ${token}`);
      }
    },
  },

  'budget kept': {
    sentence: 'What is spent of a budget is what the upstream reported or the estimate, and nothing stays reserved.',
    *breaches({ history, accounts }) {
      if (isLeftStanding(history) || history.plan.diesAt >= 0) return;
      for (const { item, facts, caller } of accounts) {
        if (caller.kind !== 'budget') continue;
        const costs = facts.map((fact) => costOf(fact, history.plan));
        const least = costs.reduce((sum, one) => sum + one.least, 0);
        const most = costs.reduce((sum, one) => sum + one.most, 0);
        const spent = sumIn(history, item, /^b/);
        if (spent < least || spent > most) yield `${item} has spent ${spent}, due are ${least} to ${most}`;
        const found = Object.keys(history.store.counters.get(item) ?? {});
        if (found.some((name) => name.startsWith('h'))) yield `${item} has something reserved for ever`;
      }
    },
  },

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
        const hasRoom = before + facts.length <= limit && facts.length <= burst && caller.kind !== 'budget';
        if (hasRoom && facts.some(({ seen }) => seen.status === 429)) yield `${item} is refused with room left`;
      }
    },
  },

  'nothing is left standing': {
    sentence: 'While the store answers, what is due is written: also what all callers together have used.',
    *breaches({ history, facts }) {
      const { plan, store } = history;
      if (plan.storeFaults.length > 0 || plan.diesAt >= 0) return;
      if (isLeftStanding(history)) yield 'something is left standing';
      if (!plan.settings.DAILY_LIMIT || plan.untilMidnight < hour) return;
      const [[, day = {}] = []] = [...store.counters].filter(([name]) => name.startsWith('deployment#'));
      const counted = Number(day.requests?.N ?? 0);
      const { least, most } = due(facts);
      if (counted < least || counted > most) yield `the day has ${counted} requests, due are ${least} to ${most}`;
    },
  },

  'true words about money': {
    sentence: 'A refusal says whether it was charged, and says nothing else than what is so.',
    *breaches({ facts }) {
      for (const { number, text, charge, seen, lines } of facts) {
        const isRefused = charge === 'charged' && seen.end === 'whole' && (seen.status ?? 0) >= 400;
        if (isRefused && !text.includes('This request was charged')) yield `${number} is not told that it is charged`;
        if (lines.some(isOwnedUp) && text.includes('This request was not charged'))
          yield `${number} is told it is free`;
        if (charge === 'charged' && text.includes('This request was not charged')) yield `${number} is told it is free`;
        if (charge === 'free' && text.includes('This request was charged')) yield `${number} is told it is charged`;
      }
    },
  },

  'true figures': {
    sentence:
      'The figures in headers are those of the counter at some moment of the request, with a refund if there is one.',
    *breaches({ history, facts, accounts }) {
      for (const { number, seen } of facts) {
        const { limit, remaining } = figuresIn(seen);
        if (seen.status !== undefined && !(remaining >= 0 && remaining <= limit))
          yield `${number} has ${remaining} of ${limit} left`;
      }
      if (history.plan.storeFaults.length > 0) return;
      for (const account of accounts) {
        if (account.caller.kind !== 'member') continue;
        for (const fact of account.facts) yield* untrueFigures(history, account, fact);
      }
    },
  },
};

const hour = 3_600_000;

/** Whether a line owns up to a refund that could not be written. */
const isOwnedUp = ({ message, operation }: Line): boolean =>
  message === 'charge left standing' && operation === 'refund';

/** How many of these requests are to be charged. */
function due(facts: readonly Fact[]): { readonly least: number; readonly most: number } {
  const least = facts.filter(({ charge }) => charge === 'charged').length;
  return { least, most: least + facts.filter(({ charge }) => charge === 'either').length };
}

/** Whether a charge reserves what the budget does not have. What an answer costs in the end may be more. */
function overdraws({ key, before, after }: Write, { item, caller }: Account): boolean {
  const reserves = Object.keys(after).some((name) => name.startsWith('h') && !(name in before));
  const exceeds = ([name, { N }]: [string, { N?: string }]) =>
    name.startsWith('b') && N !== before[name]?.N && Number(N) > caller.budget;
  return key === item && reserves && Object.entries(after).some(exceeds);
}

/** Whether the log owns up to what could not be written. */
const isLeftStanding = ({ log }: History): boolean => log.some((line) => line.includes('left standing'));

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
  const used = usedUntil(history, item, seen);
  if (!used.includes(limit - remaining)) yield `${number} is told that ${limit - remaining} are used, never were`;
}

/** What a counter stood at on the day of an answer, one state after the other, until it was over. */
function usedUntil({ store }: History, item: string, { answeredAt = 0, ended = 0 }: Fact['seen']): number[] {
  const states = [store.initial.get(item) ?? {}];
  for (const { key, after, time } of store.writes) if (key === item && time <= ended) states.push(after);
  // At midnight it may have left on either day.
  const days = [answeredAt - 100, answeredAt].map((time) => `u${Math.floor(time / (24 * hour))}`);
  return [0, ...days.flatMap((day) => states.map((state) => Number(state[day]?.N ?? 0)))];
}
