import { type Prices, readPrices } from '../../../lambda/budget/prices.ts';
import { falling, type Guarantee, isStillThere, rising, told, variablesOf, type Where } from './guarantee.ts';

/** Nobody comes to spend more without a decision: budgets stay set and in proportion, and so do the prices they count with. */
export const budgeted: readonly Guarantee[] = [
  ...told('SPEND_LIMIT', 'spends any amount a day', { keeps: isStillThere }),
  ...told('MEMBER_BUDGET', 'lets members spend without a budget', { keeps: isStillThere }),
  ...rising.settings(['SPEND_LIMIT', 'MEMBER_BUDGET']),
  ...falling.settings(['RESERVED_OUTPUT']),
  ...told('MEMBER_BUDGET_WINDOW', 'gives members their budget anew more than ten times as often', {
    keeps: (before, after) => daysOf(before) < 10 * daysOf(after),
  }),
  ...told('PRICES', 'has no prices to count budgets with', { keeps: isStillThere }),
  ...told('PRICES', 'counts tokens at a tenth of their price or less, so that budgets buy ten times as much', {
    keeps: (before, after, where) => !fallsFar(pricesIn(before, where), pricesIn(after, where)),
  }),
];

const days = new Map<unknown, number>([
  ['day', 1],
  ['week', 7],
  ['month', 30],
]);

/** An unset window is a month; a text that is none would not be deployed. */
function daysOf(window: unknown = 'month'): number {
  return days.get(window) ?? Number.NaN;
}

function pricesIn(text: unknown, { part }: Where): Prices {
  const name = String(variablesOf(part.tree).SERVICE_NAME ?? 'svc');
  return readPrices(String(text ?? ''), [name, `${name}-vision`], []);
}

function fallsFar(before: Prices, after: Prices): boolean {
  return [...before].some(([model, old]) => {
    const now = after.get(model);
    return kinds.some((kind) => old[kind] > 0 && 10 * (now?.[kind] ?? old[kind]) <= old[kind]);
  });
}

const kinds = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;
