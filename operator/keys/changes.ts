import { budgetPeriod, longestRequest } from '../../lambda/budget/budget-window.ts';
import { formatAmount } from '../../lambda/budget/money.ts';
import {
  hasOwnCounters,
  issueKey,
  type KeyIssuing,
  type KeyRecord,
  type KeyRequest,
  ownLimitsOf,
} from '../../lambda/identity/issued-keys.ts';
import { memberWindow, readMemberUsage } from '../../lambda/quota/policy.ts';
import { releaseAbandoned } from '../../lambda/quota/reservations.ts';
import { createModels } from '../../lambda/settings/models.ts';
import type { KeyChanges } from '../../lambda/store/store.ts';
import { CommandError, type Outcome } from '../command-line.ts';
import { showTime } from '../table.ts';
import { describeKey, findKey, noSuchKey, showNewKey, showSettings, soon } from './key-record.ts';
import type { Target } from './target.ts';

/** Refuses settings that this gateway could not enforce. */
export function checkOwn(target: Target, { budget, models = [], burst = 0 }: Partial<KeyRequest>): void {
  const { serviceName, currency, mostBurst } = target;
  if (budget !== undefined && currency === undefined) {
    throw new CommandError('this gateway has no PRICES, without which nothing can be counted against a budget');
  }
  // Embeddings are always accepted: whether the gateway offers them isn't known here, and may change.
  const known = createModels({ serviceName, offersEmbeddings: true }).all.map(({ id }) => id);
  const unknown = models.find((id) => !known.includes(id));
  if (unknown !== undefined) {
    throw new CommandError(`${unknown} is no public model: there may be ${known.join(', ')}`);
  }
  if (burst > mostBurst) {
    throw new CommandError(
      `a burst may be at most ${mostBurst}, which one counter can serve: issue several keys instead`,
    );
  }
}

/** Sets or, where undefined, removes a key's own settings, and shows those that now apply. */
export async function change(target: Target, id: string, changes: KeyChanges, now: number): Promise<Outcome> {
  checkOwn(target, changes);
  const record = await target.keys.change((await findKey(target, id)).id, changes);
  if (!record) throw noSuchKey();
  const spending = 'budget' in changes ? ` ${await sayWhatIsCounted(target, record, now)}` : '';
  const text = `${record.id} is changed. ${soon}${spending}\n\n${showSettings(record, target)}`;
  return { json: describeKey(record, now), text };
}

/** A counter tracks spending in every kind of window, even before it has a budget. */
async function sayWhatIsCounted(target: Target, record: KeyRecord, now: number): Promise<string> {
  const { budget } = await readMemberUsage(target, ownerOf(record), now);
  if (budget === undefined) return 'It has no budget now.';
  const { spent, reserved, unsettled, window } = budget;
  const counted = spent + reserved + unsettled;
  const whose = hasOwnCounters(record) ? 'It counts for itself' : 'It draws on what all keys of the member share';
  const what = counted > 0 ? `${formatAmount(counted)} ${target.currency ?? ''} is` : 'nothing is';
  return `${whose}: ${what} counted in the current ${window} so far.`;
}

const ownerOf = (record: KeyRecord) => ({ member: record.member, keyId: record.id, own: ownLimitsOf(record) });

export async function releaseBudget(target: Target, id: string, now: number): Promise<Outcome> {
  const record = await findKey(target, id);
  const owner = ownerOf(record);
  // An abandoned reservation stays on its original counter, even if the key has since lost its budget or its own counters.
  const owners = owner.own ? [owner] : [owner, { ...owner, own: {} }];
  let released = 0;
  for (const one of owners) {
    const { item } = memberWindow(target, one, now);
    // Any period will do: reservations of all periods are read together.
    const counted = { item, budget: { period: budgetPeriod('month', now).name } };
    released += await releaseAbandoned(target.counters, counted, longestRequest, now);
  }
  const amount = formatAmount(released);
  const text =
    released === 0
      ? `${record.id}: no reservation of its budget is lost.`
      : `${record.id}: ${amount} ${target.currency ?? ''} is given back, which lost requests had reserved.`;
  return { json: { id: record.id, released: amount }, text };
}

/**
 * Replaces a key with a new one for the same member; the old one may keep working for a while. The new key is issued before the
 * old one is revoked, so no failure locks anybody out.
 */
export async function rotate(
  target: Target,
  id: string,
  overlap: number | undefined,
  issuing: KeyIssuing,
): Promise<Outcome> {
  const old = await findKey(target, id);
  const now = issuing.now();
  const { state } = describeKey(old, now);
  if (state !== 'live') throw new CommandError(`${old.id} is ${state}: issue a new key instead`);
  const issued = await issueKey(target.keys, old, issuing);
  const { key, record } = issued;
  const end = Math.min(now + (overlap ?? 0), old.expiresAt ?? Number.POSITIVE_INFINITY);
  const retired =
    overlap === undefined
      ? target.keys.revoke(old.id, now)
      : target.keys.change(old.id, { expiresAt: end, renewable: undefined });
  await retired.catch((cause) => {
    const rest = `${old.id} may still work (${cause.message}): revoke it`;
    throw new CommandError(`The new key ${record.id} is ${key}, but ${rest}`);
  });
  const anew = hasOwnCounters(record) ? ' What it counts for itself alone starts at 0.' : '';
  const rest = overlap === undefined ? `is revoked. ${soon}` : `works until ${showTime(end)} beside it.`;
  return {
    json: { key, id: record.id, member: record.member, replaced: old.id },
    text: `A new key for ${record.member}, instead of ${old.id}.${anew} ${showNewKey(target, issued)}\n\n${old.id} ${rest}`,
  };
}
