import { hashKey, keyPrefix } from '../../lambda/identity/credentials.ts';
import type { KeyRecord } from '../../lambda/identity/identity.ts';
import { issueKey, type KeyIssuing, type KeyRequest } from '../../lambda/identity/issue-key.ts';
import { networkId } from '../../lambda/identity/network.ts';
import { quotaWindow } from '../../lambda/quota/policy.ts';
import type { KeyQuery } from '../../lambda/store/keys.ts';
import { CommandError } from './command-error.ts';
import { renderPairs, renderTable, showText, showTime } from './table.ts';
import type { Target } from './target.ts';

/** What a command has to say: to a program, and to a person. */
export interface Outcome {
  readonly json: unknown;
  readonly text: string;
}

export async function issue(target: Target, request: KeyRequest, issuing: KeyIssuing): Promise<Outcome> {
  const { key, record } = await issueKey(target.keys, request, issuing);
  const body = JSON.stringify({ model: target.serviceName, messages: [{ role: 'user', content: 'Hello' }] });
  const text = [
    `A new key for ${record.member}. It is shown this once and cannot be shown again:`,
    `\n  ${key}\n`,
    renderPairs({ id: record.id, limit: showLimit(record, target), expires: showExpiry(record) }),
    '\nTry it:\n',
    `  curl ${target.url.replace(/\/$/, '')}/v1/chat/completions -H 'x-api-key: ${key}' \\`,
    `    -H 'content-type: application/json' -d '${body}'`,
  ].join('\n');
  return { json: { key, id: record.id, member: record.member }, text };
}

export async function list(target: Target, query: KeyQuery, now: number): Promise<Outcome> {
  const { keys: found, next } = await target.keys.list(query);
  const keys = found.toSorted((a, b) => b.createdAt - a.createdAt);
  const rows = keys.map((record) => {
    const { limit, state } = describe(record, now);
    const label = showText(record.label ?? '');
    const times = [showTime(record.createdAt), showExpiry(record)];
    return [record.id, record.member, label, limit === null ? '' : `${limit}`, ...times, state];
  });
  const table = renderTable(['ID', 'MEMBER', 'LABEL', 'LIMIT', 'CREATED', 'EXPIRES', 'STATE'], rows);
  const more = next === undefined ? '' : `\n\nThere are more: add --from ${next}`;
  return {
    json: { keys: keys.map((record) => describe(record, now)), next: next ?? null },
    text: keys.length > 0 ? table + more : `No keys.${more}`,
  };
}

export async function show(target: Target, id: string, now: number): Promise<Outcome> {
  const record = await find(target, id);
  const usage = await readUsage(target, record, now);
  const { label, ...described } = describe(record, now);
  const text = renderPairs({
    id: record.id,
    member: record.member,
    label: showText(label ?? ''),
    state: described.state,
    created: showTime(record.createdAt),
    expires: showExpiry(record),
    ...(record.revokedAt !== undefined && { revoked: showTime(record.revokedAt) }),
    limit: showLimit(record, target),
    used: `${usage.used} of ${usage.limit}, ${usage.remaining} left until ${showTime(usage.resetsAt)}`,
  });
  return { json: { ...described, label, usage: { ...usage, resetsAt: isoTime(usage.resetsAt) } }, text };
}

export async function revoke(target: Target, id: string, now: number): Promise<Outcome> {
  const { id: foundId } = await find(target, id);
  const record = await target.keys.revoke(foundId, now);
  if (!record) throw noSuchKey();
  const text = `${record.id} of ${record.member} is revoked. Within 60 seconds it is refused everywhere.`;
  return { json: describe(record, now), text };
}

export interface LinkRequest {
  /** As `networkOf` spells it. */
  readonly network: string;
  readonly member: string;
  readonly hours: number;
}

export async function link(target: Target, { network, member, hours }: LinkRequest, now: number): Promise<Outcome> {
  const expiresAt = now + hours * 3_600_000;
  const id = networkId(network, await target.readNetworkSalt());
  await target.keys.link(id, { member, linkedAt: now, expiresAt });
  const text = `${network} counts as ${member} until ${showTime(expiresAt)}, with any placeholder as its key.`;
  return { json: { network, member, expiresAt: isoTime(expiresAt) }, text };
}

/** What the key's window holds: its own where it has a limit of its own, else its member's. */
async function readUsage({ counters, memberLimit }: Target, { id, member, limit: ownLimit }: KeyRecord, now: number) {
  // Guests and bursts play no part in a member's window.
  const limits = { memberLimit, guestLimit: 0, guestWindow: 'daily', burstLimit: 1 } as const;
  const { item, limit, resetAt = now } = quotaWindow({ kind: 'member', member, keyId: id, ownLimit }, now, limits);
  const used = await counters.read(item);
  return { used, limit, remaining: Math.max(0, limit - used), resetsAt: resetAt };
}

/** By its id, or by the key itself, which is all that there is when one turns up where it should not be. */
async function find({ keys }: Target, id: string): Promise<KeyRecord> {
  const record = await (id.startsWith(keyPrefix) ? keys.findKey(hashKey(id)) : keys.findById(id));
  if (!record) throw noSuchKey();
  return record;
}

const noSuchKey = () => new CommandError('there is no such key: `list` shows the ids of all');

/** A record as programs read it: nothing left out, times in ISO form. */
function describe(record: KeyRecord, now: number) {
  const { id, member, label, limit, createdAt, expiresAt, revokedAt } = record;
  const expired = expiresAt !== undefined && expiresAt <= now;
  return {
    id,
    member,
    label: label ?? null,
    limit: limit ?? null,
    state: revokedAt !== undefined ? 'revoked' : expired ? 'expired' : 'live',
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt),
    revokedAt: isoTime(revokedAt),
  };
}

const isoTime = (time: number | undefined): string | null => (time === undefined ? null : new Date(time).toISOString());
const showExpiry = ({ expiresAt }: KeyRecord): string => (expiresAt === undefined ? 'never' : showTime(expiresAt));

function showLimit({ limit }: KeyRecord, { memberLimit }: Target): string {
  return limit === undefined
    ? `${memberLimit} requests a day, shared by all keys of the member`
    : `${limit} requests a day, for this key alone`;
}
