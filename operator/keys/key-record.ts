import type { Budget, BudgetUsage } from '../../lambda/budget/budget-window.ts';
import { formatAmount } from '../../lambda/budget/money.ts';
import {
  hashKey,
  hasOwnCounters,
  type IssuedKey,
  type KeyRecord,
  keyPrefix,
  stateOf,
} from '../../lambda/identity/issued-keys.ts';
import { modelId } from '../../lambda/settings/models.ts';
import type { ModelUse } from '../../lambda/store/counters.ts';
import { CommandError } from '../command-line.ts';
import { isoTime, renderPairs, showTime } from '../table.ts';
import type { Target } from './target.ts';

/** Finds a key by its id, or by the key itself, which is all you have when one has leaked. */
export async function findKey({ keys }: Target, id: string): Promise<KeyRecord> {
  const record = await (id.startsWith(keyPrefix) ? keys.findKey(hashKey(id)) : keys.findById(id));
  if (!record) throw noSuchKey();
  return record;
}

export const noSuchKey = () => new CommandError('there is no such key: `list` shows the ids of all');

/** A record for JSON output: every field, with times in ISO format. */
export function describeKey(record: KeyRecord, now: number) {
  const { id, member, label, limit, budget, budgetWindow, models, burst, createdAt, expiresAt, revokedAt } = record;
  return {
    id,
    member,
    label: label ?? null,
    limit: limit ?? null,
    budget: budget === undefined ? null : { amount: formatAmount(budget), window: budgetWindow },
    models: models ?? null,
    burst: burst ?? null,
    state: stateOf(record, now),
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt),
    revokedAt: isoTime(revokedAt),
  };
}

export const showExpiry = ({ expiresAt }: KeyRecord): string =>
  expiresAt === undefined ? 'never' : showTime(expiresAt);

/** The budget that applies to a key: its own, or its member's. */
export function budgetOf({ budget, budgetWindow }: KeyRecord, { memberBudget }: Target): Budget | undefined {
  return budget !== undefined && budgetWindow !== undefined ? { amount: budget, window: budgetWindow } : memberBudget;
}

/** The settings that apply to a key. Models and burst are left out unless it has its own. */
export function listSettings(record: KeyRecord, target: Target): Record<string, string> {
  // A key with its own counters gets the member's default for whatever it wasn't given, but shares it with no other key.
  const forWhom = hasOwnCounters(record) ? 'for this key alone' : 'shared by all keys of the member';
  const budget = budgetOf(record, target);
  const { id, limit = target.memberLimit, models, burst } = record;
  return {
    id,
    limit: `${limit} requests a day, ${forWhom}`,
    ...(budget && {
      budget: `${formatAmount(budget.amount)} ${target.currency ?? ''} a ${budget.window}, ${forWhom}`,
    }),
    ...(models && { models: models.join(', ') }),
    ...(burst !== undefined && { burst: `${burst} requests a minute` }),
    expires: showExpiry(record),
  };
}

export const showSettings = (record: KeyRecord, target: Target): string =>
  renderPairs(listSettings(record, target)) + warnOfSmallBudget(record, target);

/** Warns of a budget that is too small for one typical request, because each reserves the cost of its longest possible answer. */
function warnOfSmallBudget(record: KeyRecord, { reservedByDefault = {}, currency = '' }: Target): string {
  const { budget, models } = record;
  const tooDear = Object.entries(reservedByDefault).filter(
    ([id, micros]) => budget !== undefined && micros > budget && (models?.includes(id) ?? true),
  );
  if (tooDear.length === 0) return '';
  const costs = tooDear.map(([id, micros]) => `${formatAmount(micros)} ${currency} for ${id}`).join(', ');
  return `\n\nThis budget is less than one request reserves that names no output limit: ${costs}. Such requests are refused. Have clients send a small max_tokens, or give a higher budget.`;
}

/** Shows a new key, for the only time. */
export function showNewKey(target: Target, { key, record }: IssuedKey): string {
  const body = JSON.stringify({ model: target.serviceName, messages: [{ role: 'user', content: 'Hello' }] });
  return [
    'It will not be shown again:',
    `\n  ${key}\n`,
    showSettings(record, target),
    '\nTry it:\n',
    `  curl ${target.url.replace(/\/$/, '')}/v1/chat/completions -H 'x-api-key: ${key}' \\`,
    `    -H 'content-type: application/json' -d '${body}'`,
  ].join('\n');
}

/** Keys are cached, so changes take a while. */
export const soon = 'Within 60 seconds this holds everywhere.';

/** A budget for JSON output. Amounts are strings, so that decimals stay exact. */
export function describeBudget(usage: BudgetUsage, currency: string | undefined) {
  return {
    currency: currency ?? null,
    window: usage.window,
    limit: formatAmount(usage.limit),
    spent: formatAmount(usage.spent),
    reserved: formatAmount(usage.reserved),
    unsettled: formatAmount(usage.unsettled),
    remaining: formatAmount(usage.remaining),
    resetsAt: isoTime(usage.resetAt),
  };
}

export function showSpending({ limit, spent, reserved, unsettled, remaining, resetAt }: BudgetUsage): string {
  const aside = Object.entries({ reserved, unsettled }).filter(([, micros]) => micros > 0);
  return [
    `${formatAmount(spent)} of ${formatAmount(limit)}`,
    ...aside.map(([name, micros]) => `${formatAmount(micros)} ${name}`),
    `${formatAmount(remaining)} left until ${showTime(resetAt)}`,
  ].join(', ');
}

/** Usage of a budget by model, for JSON output. */
export const describeUses = (uses: readonly ModelUse[], { serviceName }: Target) =>
  uses.map(({ kind, input, output, spent }) => ({
    id: modelId(serviceName, kind),
    inputTokens: input,
    outputTokens: output,
    spent: formatAmount(spent),
  }));

export const showUses = (uses: readonly ModelUse[], target: Target): string =>
  describeUses(uses, target)
    .map(
      ({ id, inputTokens, outputTokens, spent }) =>
        `${id}: ${inputTokens} tokens in and ${outputTokens} out for ${spent}`,
    )
    .join('; ');
