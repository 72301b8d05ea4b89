import { costOf, sumOf } from '../cost.ts';
import { type Fact, type Line, sumIn } from '../facts.ts';
import type { History } from '../world.ts';
import type { Invariants } from './invariant.ts';

/** What requests and answers cost. */
export const money: Invariants = {
  'charged once': {
    sentence: 'A request is charged exactly once or not at all, and whoever got an answer has paid for it.',
    *breaches({ history, accounts }) {
      for (const { item, facts, before } of accounts) {
        const requests = due(facts);
        const counted = sumIn(history, item, /^u/) - before;
        if (isOutside(requests, counted))
          yield `${item} has ${counted} charges, due are ${requests.least} to ${requests.most}`;
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
        const costs = costsOf(facts, history);
        const spent = sumIn(history, item, /^b/);
        if (isOutside(costs, spent)) yield `${item} has spent ${spent}, due are ${costs.least} to ${costs.most}`;
        const found = Object.keys(history.store.counters.get(item) ?? {});
        if (found.some((name) => name.startsWith('h'))) yield `${item} has something reserved for ever`;
      }
    },
  },

  'nothing is left standing': {
    sentence: 'While the store answers, what is due is written: also what all callers together have used and spent.',
    *breaches({ history, facts }) {
      const { plan, store } = history;
      const { settings } = plan;
      if (plan.storeFaults.length > 0 || plan.diesAt >= 0) return;
      if (isLeftStanding(history)) yield 'something is left standing';
      const days = [...store.counters].flatMap(([name, counts]) => (name.startsWith('deployment#') ? [counts] : []));
      const counted = (name: string) => sumOf(days.map((counts) => Number(counts[name]?.N ?? 0)));
      const requests = due(facts);
      if (settings.DAILY_LIMIT && isOutside(requests, counted('requests')))
        yield `all have made ${counted('requests')} requests, due are ${requests.least} to ${requests.most}`;
      const guests = due(facts.filter(({ caller }) => caller.kind === 'guest'));
      if ((settings.DAILY_LIMIT ?? settings.GUEST_DAILY_LIMIT) && isOutside(guests, counted('guests')))
        yield `guests have made ${counted('guests')} requests, due are ${guests.least} to ${guests.most}`;
      const costs = costsOf(facts, history);
      if (settings.SPEND_LIMIT && isOutside(costs, counted('spent')))
        yield `all have spent ${counted('spent')}, due are ${costs.least} to ${costs.most}`;
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
};

/** Whether a line owns up to a refund that could not be written. */
const isOwnedUp = ({ message, operation }: Line): boolean =>
  message === 'charge left standing' && operation === 'refund';

/** How many of these requests are to be charged. */
function due(facts: readonly Fact[]): { readonly least: number; readonly most: number } {
  const least = facts.filter(({ charge }) => charge === 'charged').length;
  return { least, most: least + facts.filter(({ charge }) => charge === 'either').length };
}

/** What these requests may have cost together. */
function costsOf(facts: readonly Fact[], { plan }: History): ReturnType<typeof costOf> {
  const costs = facts.map((fact) => costOf(fact, plan));
  return { least: sumOf(costs.map(({ least }) => least)), most: sumOf(costs.map(({ most }) => most)) };
}

const isOutside = ({ least, most }: { readonly least: number; readonly most: number }, count: number): boolean =>
  count < least || count > most;

/** Whether the log owns up to what could not be written. */
const isLeftStanding = ({ log }: History): boolean => log.some((line) => line.includes('left standing'));
