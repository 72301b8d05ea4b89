import { hashKey, keyPrefix } from '../../lambda/identity/credentials.ts';
import { type KeyRecord, stateOf } from '../../lambda/identity/identity.ts';
import type { IssuedKey } from '../../lambda/identity/issue-key.ts';
import { CommandError } from '../command-error.ts';
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
  const { id, member, label, limit, createdAt, expiresAt, revokedAt } = record;
  return {
    id,
    member,
    label: label ?? null,
    limit: limit ?? null,
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

export function showLimit({ limit }: KeyRecord, { memberLimit }: Target): string {
  return limit === undefined
    ? `${memberLimit} requests a day, shared by all keys of the member`
    : `${limit} requests a day, for this key alone`;
}

/** The text about a new key, which is never shown again. */
export function showNewKey(target: Target, { key, record }: IssuedKey): string {
  const body = JSON.stringify({ model: target.serviceName, messages: [{ role: 'user', content: 'Hello' }] });
  return [
    'It will not be shown again:',
    `\n  ${key}\n`,
    renderPairs({ id: record.id, limit: showLimit(record, target), expires: showExpiry(record) }),
    '\nTry it:\n',
    `  curl ${target.url.replace(/\/$/, '')}/v1/chat/completions -H 'x-api-key: ${key}' \\`,
    `    -H 'content-type: application/json' -d '${body}'`,
  ].join('\n');
}
