import { type BudgetUsage, budgetUsage } from '../../lambda/budget/budget-window.ts';
import type { KeyRecord } from '../../lambda/identity/issued-keys.ts';
import { type CounterName, readCounterName } from '../../lambda/quota/policy.ts';
import type { ScannedCounter } from '../../lambda/store/counters.ts';
import type { Outcome } from '../command-line.ts';
import { count, renderTable } from '../table.ts';
import { budgetOf, describeBudget } from './key-record.ts';
import type { Target } from './target.ts';

interface User extends ScannedCounter {
  readonly counter: CounterName;
  /** The amount spent or reserved, in whichever kind of window it is largest. */
  readonly taken: number;
}

/** Today's top users by requests and by spending. Scans the whole table, as there is no index, but retains only the rows to show. */
export async function showUsage(
  target: Target,
  top: number,
  now: number,
  pause: () => Promise<void>,
): Promise<Outcome> {
  const day = new Date(now).toISOString().slice(0, 10);
  const today = { users: 0, requests: 0 };
  const guests = { networks: 0, requests: 0 };
  const highest = (all: readonly User[], figure: 'usedToday' | 'taken') =>
    all
      .filter((one) => one[figure] > 0)
      .toSorted((a, b) => b[figure] - a[figure])
      .slice(0, top);
  let users: User[] = [];
  let spenders: User[] = [];
  for await (const { counters } of target.counters.scan(now, pause)) {
    const page = counters.flatMap((one): User[] => {
      const counter = readCounterName(one.item);
      const taken = Math.max(...Object.values(one.budgets).map((budget) => budget.taken));
      return counter ? [{ ...one, counter, taken }] : [];
    });
    for (const { usedToday, usedInLifetime } of page) {
      guests.networks += usedInLifetime > 0 ? 1 : 0;
      guests.requests += usedInLifetime;
      today.users += usedToday > 0 ? 1 : 0;
      today.requests += usedToday;
    }
    users = highest([...users, ...page], 'usedToday');
    spenders = highest([...spenders, ...page], 'taken');
  }
  const shown = await Promise.all(
    users.map(async ({ counter, usedToday: used }) => {
      const { record, ...whose } = await findOwner(counter, target);
      const limit = counter.kind === 'member' || record ? (record?.limit ?? target.memberLimit) : null;
      return { ...whose, used, limit, burst: record?.burst ?? null, models: record?.models ?? null };
    }),
  );
  const rows = shown.map((one) => {
    const { used, limit, burst, models } = one;
    return [...showOwner(one), ...[used, limit ?? '', burst ?? '', models?.join() ?? ''].map(String)];
  });
  const totals = [
    `${count(today.requests, 'request')} today (${day}, UTC) by ${count(today.users, 'member, key or daily guest', 'members, keys and daily guests')}.`,
    ...(guests.networks > 0
      ? [`${count(guests.requests, 'request')} of ${count(guests.networks, 'guest')}, each within its lifetime.`]
      : []),
  ];
  const headings = ['KIND', 'ID', 'MEMBER', 'LABEL', 'USED', 'LIMIT', 'BURST', 'MODELS'];
  const table = rows.length > 0 ? [renderTable(headings, rows), ''] : [];
  const budgets = await describeSpenders(spenders, target, now);
  const text = [...table, ...showBudgets(budgets, target), ...totals].join('\n');
  return { json: { day, ...today, guests, top: shown, budgets }, text };
}

type ShownBudget = Awaited<ReturnType<typeof describeSpenders>>[number];

/** Only those who still have a budget, top spenders first. */
async function describeSpenders(spenders: readonly User[], target: Target, now: number) {
  const shown = await Promise.all(
    spenders.map(async ({ counter, budgets }) => {
      const { record, ...whose } = await findOwner(counter, target);
      const budget = record ? budgetOf(record, target) : target.memberBudget;
      const usage: BudgetUsage | undefined = budget && budgetUsage(budget, budgets[budget.window], now);
      return usage ? [{ taken: usage.spent + usage.reserved + usage.unsettled, whose, usage }] : [];
    }),
  );
  const found = shown.flat().toSorted((a, b) => b.taken - a.taken);
  return found.map(({ whose, usage }) => ({ ...whose, budget: describeBudget(usage, target.currency) }));
}

function showBudgets(budgets: readonly ShownBudget[], { currency = '' }: Target): string[] {
  if (budgets.length === 0) return [];
  const rows = budgets.map(({ budget, ...whose }) => [
    ...[...showOwner(whose), budget.window],
    ...[budget.limit, budget.spent, budget.reserved, budget.unsettled, budget.remaining],
  ]);
  const headings = ['KIND', 'ID', 'MEMBER', 'LABEL', 'WINDOW', 'BUDGET', 'SPENT', 'RESERVED', 'UNSETTLED', 'LEFT'];
  return [renderTable(headings, rows), `Amounts are in ${currency}.`, ''];
}

interface Owner {
  readonly kind: CounterName['kind'];
  readonly id: string;
  readonly member: string | null;
  readonly label: string | null;
}

/** A key with its own counter is shown with its member, a guest as the network's hash, as in the log. */
async function findOwner(
  { kind, name }: CounterName,
  { keys }: Target,
): Promise<Owner & { record?: KeyRecord | undefined }> {
  const record = kind === 'key' ? await keys.findById(name) : undefined;
  return { kind, id: name, member: record?.member ?? null, label: record?.label ?? null, record };
}

const showOwner = ({ kind, id, member, label }: Owner) => [kind, id, member ?? '', label ?? ''];
