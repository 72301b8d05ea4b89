import type { KeyRecord } from '../../lambda/identity/identity.ts';
import { issueKey, type KeyIssuing } from '../../lambda/identity/issue-key.ts';
import { CommandError } from '../command-error.ts';
import type { Outcome } from '../outcome.ts';
import { changeKey, describeKey, findKey, showExpiry, showLimit, showNewKey } from './key-record.ts';
import { showTime } from './table.ts';
import type { Target } from './target.ts';

const soon = 'Within 60 seconds this holds everywhere.';

/** Gives a key a limit of its own; with undefined it shares its member's again. */
export async function changeLimit(
  target: Target,
  id: string,
  limit: number | undefined,
  now: number,
): Promise<Outcome> {
  const record = await changeKey(target, id, (keys, found) => keys.setLimit(found, limit));
  return { json: describeKey(record, now), text: `${record.id}: ${showLimit(record, target)}. ${soon}` };
}

/** Makes a key expire at a time; with undefined, never. */
export async function changeExpiry(
  target: Target,
  id: string,
  expiresAt: number | undefined,
  now: number,
): Promise<Outcome> {
  const record = await changeKey(target, id, (keys, found) => keys.setExpiry(found, expiresAt));
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
  return {
    json: { key, id: record.id, member: record.member, replaced },
    text: `A new key for ${record.member}, instead of ${old.id}. ${showNewKey(target, issued)}\n\n${retired.text}`,
    ...(!retired.done && { undone: retired.text }),
  };
}

async function retire({ keys }: Target, { id, expiresAt }: KeyRecord, overlap: number | undefined, now: number) {
  const end = Math.min(now + (overlap ?? 0), expiresAt ?? Number.POSITIVE_INFINITY);
  try {
    await (overlap === undefined ? keys.revoke(id, now) : keys.setExpiry(id, end));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { done: false, text: `${id} still works, as it could not be retired (${reason}): revoke it.` };
  }
  const text = overlap === undefined ? `${id} is revoked. ${soon}` : `${id} works until ${showTime(end)} beside it.`;
  return { done: true, text };
}
