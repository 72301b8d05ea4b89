import type { Budget } from '../../lambda/budget/budget-window.ts';
import { formatAmount } from '../../lambda/budget/money.ts';
import {
  hashKey,
  hasOwnCounters,
  type IssuedKey,
  issueKey,
  type KeyIssuing,
  type KeyRecord,
  keyPrefix,
  stateOf,
} from '../../lambda/identity/keys.ts';
import { CommandError, type Outcome } from '../command-line.ts';
import { renderPairs, showTime } from './table.ts';
import type { Target } from './target.ts';

/** Finds a key by its id, or by the key itself, which is all you have when one has leaked. */
export async function findKey({ keys }: Target, id: string): Promise<KeyRecord> {
  const record = await (id.startsWith(keyPrefix) ? keys.findKey(hashKey(id)) : keys.findById(id));
  if (!record) throw noSuchKey();
  return record;
}

/** Changes a key that is found like that. */
export async function changeKey(
  target: Target,
  id: string,
  change: (keys: Target['keys'], id: string) => Promise<KeyRecord | undefined>,
): Promise<KeyRecord> {
  const found = await findKey(target, id);
  const record = await change(target.keys, found.id);
  if (!record) throw noSuchKey();
  return record;
}

const noSuchKey = () => new CommandError('there is no such key: `list` shows the ids of all');

/** A record as programs read it: nothing left out, times in ISO form. */
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

export const isoTime = (time: number | undefined): string | null =>
  time === undefined ? null : new Date(time).toISOString();
export const showExpiry = ({ expiresAt }: KeyRecord): string =>
  expiresAt === undefined ? 'never' : showTime(expiresAt);

export function showLimit(record: KeyRecord, { memberLimit }: Target): string {
  return `${record.limit ?? memberLimit} requests a day, ${forWhom(record)}`;
}

/** The budget that holds for a key: its own, or its member's. */
export function budgetOf({ budget, budgetWindow }: KeyRecord, { memberBudget }: Target): Budget | undefined {
  return budget !== undefined && budgetWindow !== undefined ? { amount: budget, window: budgetWindow } : memberBudget;
}

export function showBudget(record: KeyRecord, target: Target): string {
  const budget = budgetOf(record, target);
  if (budget === undefined) return 'none';
  return `${formatAmount(budget.amount)} ${target.currency ?? ''} a ${budget.window}, ${forWhom(record)}`;
}

export const showModels = ({ models }: KeyRecord): string => models?.join(', ') ?? 'all';

/** What it was not given itself, a key with counters of its own has as its member's keys have it, but for itself. */
const forWhom = (record: KeyRecord) =>
  hasOwnCounters(record) ? 'for this key alone' : 'shared by all keys of the member';

/** What a key has of its own, or shares, besides its limit: only what is not as for any other key. */
export function showOwn(record: KeyRecord, target: Target): Record<string, string> {
  return {
    ...(budgetOf(record, target) && { budget: showBudget(record, target) }),
    ...(record.models && { models: showModels(record) }),
    ...(record.burst !== undefined && { burst: `${record.burst} requests a minute` }),
  };
}

/** The text about a new key, which is never shown again. */
export function showNewKey(target: Target, { key, record }: IssuedKey): string {
  const body = JSON.stringify({ model: target.serviceName, messages: [{ role: 'user', content: 'Hello' }] });
  return [
    'It will not be shown again:',
    `\n  ${key}\n`,
    renderPairs({
      id: record.id,
      limit: showLimit(record, target),
      ...showOwn(record, target),
      expires: showExpiry(record),
    }),
    '\nTry it:\n',
    `  curl ${target.url.replace(/\/$/, '')}/v1/chat/completions -H 'x-api-key: ${key}' \\`,
    `    -H 'content-type: application/json' -d '${body}'`,
  ].join('\n');
}

export const soon = 'Within 60 seconds this holds everywhere.';

/** Gives a key a limit of its own; with undefined it shares its member's again. */
export async function changeLimit(
  target: Target,
  id: string,
  limit: number | undefined,
  now: number,
): Promise<Outcome> {
  const record = await changeKey(target, id, (keys, found) => keys.change(found, { limit }));
  return { json: describeKey(record, now), text: `${record.id}: ${showLimit(record, target)}. ${soon}` };
}

/** Makes a key expire at a time; with undefined, never. */
export async function changeExpiry(
  target: Target,
  id: string,
  expiresAt: number | undefined,
  now: number,
): Promise<Outcome> {
  const record = await changeKey(target, id, (keys, found) => keys.change(found, { expiresAt }));
  return { json: describeKey(record, now), text: `${record.id} expires: ${showExpiry(record)}. ${soon}` };
}

/** When a rotated key ends: at once, or after working beside the new one for this many milliseconds. */
export interface Rotation {
  readonly overlap: number | undefined;
}

/** Replaces a key by a new one for the same member. Whatever fails, the new one exists before the old one goes. */
export async function rotate(target: Target, id: string, { overlap }: Rotation, issuing: KeyIssuing): Promise<Outcome> {
  const old = await findKey(target, id);
  const now = issuing.now();
  const { state } = describeKey(old, now);
  if (state !== 'live') throw new CommandError(`${old.id} is ${state}: issue a new key instead`);
  const issued = await issueKey(target.keys, old, issuing);
  const { key, record } = issued;
  const retired = await retire(target, old, overlap, now);
  const replaced = { id: old.id, retired: retired.done };
  const anew = hasOwnCounters(record) ? ' What it counts for itself alone starts at 0.' : '';
  return {
    json: { key, id: record.id, member: record.member, replaced },
    text: `A new key for ${record.member}, instead of ${old.id}.${anew} ${showNewKey(target, issued)}\n\n${retired.text}`,
    ...(!retired.done && { undone: retired.text }),
  };
}

async function retire({ keys }: Target, { id, expiresAt }: KeyRecord, overlap: number | undefined, now: number) {
  const end = Math.min(now + (overlap ?? 0), expiresAt ?? Number.POSITIVE_INFINITY);
  try {
    await (overlap === undefined ? keys.revoke(id, now) : keys.change(id, { expiresAt: end }));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { done: false, text: `${id} still works, as it could not be retired (${reason}): revoke it.` };
  }
  const text = overlap === undefined ? `${id} is revoked. ${soon}` : `${id} works until ${showTime(end)} beside it.`;
  return { done: true, text };
}
