import type { Budget } from '../../lambda/budget/budget-window.ts';
import { longestRequest } from '../../lambda/budget/figures.ts';
import { formatAmount } from '../../lambda/budget/money.ts';
import { hasOwnCounters, type KeyRecord, type KeyRequest, ownLimitsOf } from '../../lambda/identity/keys.ts';
import { createModels } from '../../lambda/models.ts';
import { releaseAbandoned } from '../../lambda/quota/charge.ts';
import { memberWindow } from '../../lambda/quota/policy.ts';
import { CommandError, type Outcome } from '../command-line.ts';
import { budgetOf, changeKey, describeKey, findKey, showBudget, showModels, soon } from './key-record.ts';
import type { Target } from './target.ts';

/** Refuses what this gateway could not keep to. */
export function checkOwn(target: Target, { budget, models = [], burst = 0 }: Partial<KeyRequest>): void {
  const { serviceName, currency, mostBurst } = target;
  if (budget !== undefined && currency === undefined) {
    throw new CommandError('this gateway has no PRICES, without which nothing can be counted against a budget');
  }
  const known = createModels(serviceName, []);
  const unknown = models.find((id) => known.find(id) === undefined);
  if (unknown !== undefined) {
    throw new CommandError(`${unknown} is no public model: there are ${known.text.id} and ${known.vision.id}`);
  }
  if (burst > mostBurst) {
    throw new CommandError(
      `a burst may be at most ${mostBurst}, which one counter can serve: issue several keys instead`,
    );
  }
}

/** Gives a key a budget of its own; with undefined it has its member's again. */
export async function changeBudget(
  target: Target,
  id: string,
  budget: Budget | undefined,
  now: number,
): Promise<Outcome> {
  const changes = { budget: budget?.amount, budgetWindow: budget?.window };
  checkOwn(target, changes);
  const before = await findKey(target, id);
  const record = await changeKey(target, before.id, (keys, found) => keys.change(found, changes));
  const text = [`${record.id}: budget ${showBudget(record, target)}.`, ...spendingAfter(target, before, record), soon];
  return { json: describeKey(record, now), text: text.join(' ') };
}

/** Gives back what is reserved for requests that were lost with their process. */
export async function releaseBudget(target: Target, id: string, now: number): Promise<Outcome> {
  const record = await findKey(target, id);
  const owner = { member: record.member, keyId: record.id, own: ownLimitsOf(record) };
  const released = await releaseAbandoned(target.counters, memberWindow(target, owner, now), longestRequest, now);
  const amount = formatAmount(released);
  const text =
    released === 0
      ? `${record.id}: no reservation of its budget is lost.`
      : `${record.id}: ${amount} ${target.currency ?? ''} is given back, which lost requests had reserved.`;
  return { json: { id: record.id, released: amount }, text };
}

/** What becomes of what is spent already. */
function spendingAfter(target: Target, before: KeyRecord, after: KeyRecord): string[] {
  const [old, budget] = [budgetOf(before, target), budgetOf(after, target)];
  if (budget === undefined) return [];
  if (!hasOwnCounters(after)) return ['It draws on what all keys of the member share.'];
  if (!hasOwnCounters(before)) return ['It counts for itself from now on, and starts at 0.'];
  return old?.window === budget.window
    ? [`What it has spent this ${budget.window} stays counted.`]
    : [`A ${budget.window} is another kind of window: what it spent before is not counted in it.`];
}

/** Restricts a key to some public models; with undefined it may use all. */
export async function changeModels(
  target: Target,
  id: string,
  models: readonly string[] | undefined,
  now: number,
): Promise<Outcome> {
  checkOwn(target, { models });
  const record = await changeKey(target, id, (keys, found) => keys.change(found, { models }));
  return { json: describeKey(record, now), text: `${record.id}: models ${showModels(record)}. ${soon}` };
}

/** Gives a key a burst of its own; with undefined it has the gateway's. */
export async function changeBurst(
  target: Target,
  id: string,
  burst: number | undefined,
  now: number,
): Promise<Outcome> {
  checkOwn(target, { burst });
  const record = await changeKey(target, id, (keys, found) => keys.change(found, { burst }));
  const what = burst === undefined ? "the gateway's default" : `${burst} requests a minute, for this key alone`;
  return { json: describeKey(record, now), text: `${record.id}: burst ${what}. ${soon}` };
}
