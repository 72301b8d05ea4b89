import { formatAmount } from '../../lambda/budget/money.ts';
import type { BudgetUsage } from '../../lambda/quota/policy.ts';
import { isoTime } from './key-record.ts';
import { showTime } from './table.ts';

/** A budget as programs read it: exact decimals, as text. */
export function describeBudget(usage: BudgetUsage, currency: string | undefined) {
  return {
    ...{ currency: currency ?? null, window: usage.window },
    limit: formatAmount(usage.limit),
    spent: formatAmount(usage.spent),
    reserved: formatAmount(usage.reserved),
    unsettled: formatAmount(usage.unsettled),
    remaining: formatAmount(usage.remaining),
    resetsAt: isoTime(usage.resetAt),
  };
}

/** What of a budget is spent, set aside and left, for people. */
export function showSpending({ limit, spent, reserved, unsettled, remaining, resetAt }: BudgetUsage): string {
  const aside = Object.entries({ reserved, unsettled }).filter(([, micros]) => micros > 0);
  return [
    `${formatAmount(spent)} of ${formatAmount(limit)}`,
    ...aside.map(([name, micros]) => `${formatAmount(micros)} ${name}`),
    `${formatAmount(remaining)} left until ${showTime(resetAt)}`,
  ].join(', ');
}
