import {
  issueKey,
  type KeyIssuing,
  type KeyRecord,
  type KeyRequest,
  type KeyState,
  ownLimitsOf,
  stateOf,
} from '../../lambda/identity/issued-keys.ts';
import { accountLabel, accountMember } from '../../lambda/identity/member.ts';
import { networkId } from '../../lambda/identity/network.ts';
import { readMemberUsage } from '../../lambda/quota/policy.ts';
import { keyOf, subkeyOf } from '../../lambda/settings/secrets.ts';
import { CommandError, type Outcome } from '../command-line.ts';
import { isoTime, renderPairs, renderTable, showTime } from '../table.ts';
import { checkOwn } from './changes.ts';
import {
  describeBudget,
  describeKey,
  describeUses,
  findKey,
  listSettings,
  noSuchKey,
  showExpiry,
  showNewKey,
  showSpending,
  showUses,
  soon,
} from './key-record.ts';
import type { Target } from './target.ts';

export async function issue(target: Target, request: KeyRequest, issuing: KeyIssuing): Promise<Outcome> {
  checkOwn(target, request);
  const issued = await issueKey(target.keys, request, issuing);
  const { key, record } = issued;
  const text = `A new key for ${record.member}. ${showNewKey(target, issued)}`;
  return { json: { key, id: record.id, member: record.member }, text };
}

interface KeyFilter {
  readonly member: string | undefined;
  readonly state: KeyState | undefined;
  /** A part of the label. */
  readonly label: string | undefined;
}

export async function list(target: Target, { member, state, label }: KeyFilter, now: number): Promise<Outcome> {
  const keys = (await target.keys.list(member))
    .filter((record) => state === undefined || stateOf(record, now) === state)
    .filter((record) => label === undefined || record.label?.includes(label))
    .toSorted((a, b) => b.createdAt - a.createdAt);
  const rows = keys.map((record) => {
    const { limit, budget, models, burst, state } = describeKey(record, now);
    const times = [showTime(record.createdAt), showExpiry(record)];
    const own = [limit ?? '', budget ? `${budget.amount}/${budget.window}` : '', burst ?? '', models?.join() ?? ''];
    return [record.id, record.member, record.label ?? '', ...own.map(String), ...times, state];
  });
  const headings = ['ID', 'MEMBER', 'LABEL', 'LIMIT', 'BUDGET', 'BURST', 'MODELS', 'CREATED', 'EXPIRES', 'STATE'];
  return {
    json: { keys: keys.map((record) => describeKey(record, now)) },
    text: keys.length > 0 ? renderTable(headings, rows) : 'No keys.',
  };
}

export async function show(target: Target, id: string, now: number): Promise<Outcome> {
  const record = await findKey(target, id);
  const owner = { member: record.member, keyId: record.id, own: ownLimitsOf(record) };
  const { resetAt, budget, ...usage } = await readMemberUsage(target, owner, now);
  const { label, ...described } = describeKey(record, now);
  const text = renderPairs({
    id: record.id,
    member: record.member,
    label: label ?? '',
    state: described.state,
    created: showTime(record.createdAt),
    ...(record.revokedAt !== undefined && { revoked: showTime(record.revokedAt) }),
    ...listSettings(record, target),
    used: `${usage.used} of ${usage.limit}, ${usage.remaining} left until ${showTime(resetAt)}`,
    ...(budget && { spent: showSpending(budget) }),
    ...(budget && budget.uses.length > 0 && { 'by model': showUses(budget.uses, target) }),
  });
  const counted = {
    ...usage,
    resetsAt: isoTime(resetAt),
    budget: budget ? { ...describeBudget(budget, target.currency), models: describeUses(budget.uses, target) } : null,
  };
  return { json: { ...described, label, usage: counted }, text };
}

export async function revoke(target: Target, id: string, now: number): Promise<Outcome> {
  const record = await target.keys.revoke((await findKey(target, id)).id, now);
  if (!record) throw noSuchKey();
  const text = `${record.id} of ${record.member} is revoked. Within 60 seconds it is refused everywhere.`;
  return { json: describeKey(record, now), text };
}

/** Revokes every live key of a member. Signs them out first, so that they can't create another meanwhile. */
export async function revokeAll(target: Target, member: string, now: number): Promise<Outcome> {
  await target.members.signOut(member, now);
  const revoked: KeyRecord[] = [];
  const seen = new Set<string>();
  const findLive = async () =>
    (await target.keys.list(member)).filter((record) => stateOf(record, now) === 'live' && !seen.has(record.id));
  // Repeats until none is left, because a key may have been written while the last list was read.
  for (let live = await findLive(); live.length > 0; live = await findLive()) {
    for (const { id } of live) {
      seen.add(id);
      const record = await target.keys.revoke(id, now);
      if (record) revoked.push(record);
    }
  }
  const ids = revoked.map(({ id }) => id).join(', ');
  const keys =
    revoked.length > 0 ? `${ids} of ${member}: revoked. ${soon}` : `${member} has no live keys, so none is revoked.`;
  const text = `${keys} Nobody is signed in as them any more.`;
  return { json: { member, revoked: revoked.map((record) => describeKey(record, now)) }, text };
}

export async function memberOf({ oidcIssuer, readNetworkSalt }: Target, subject: string): Promise<string> {
  if (oidcIssuer === undefined) {
    throw new CommandError(
      'nobody signs in here with a company account, as OIDC_ISSUER is not set: use --member or an id',
    );
  }
  return accountMember(subkeyOf(keyOf(await readNetworkSalt()), accountLabel), oidcIssuer, subject);
}

/** `network` must be in the format of `networkOf`. */
export async function link(
  target: Target,
  network: string,
  { member, hours }: { readonly member: string; readonly hours: number },
  now: number,
): Promise<Outcome> {
  if (target.access === 'keys') {
    throw new CommandError('this gateway has ACCESS=keys, where links count for nothing: issue a key instead');
  }
  const expiresAt = now + hours * 3_600_000;
  await target.keys.link(await idOf(target, network), { member, linkedAt: now, expiresAt });
  const text = `${network} counts as ${member} until ${showTime(expiresAt)}, with any placeholder as its key.`;
  return { json: { network, member, expiresAt: isoTime(expiresAt) }, text };
}

export async function unlink(target: Target, network: string, now: number): Promise<Outcome> {
  const link = await target.keys.unlink(await idOf(target, network));
  // DynamoDB may take days to delete an expired item.
  if (!link || link.expiresAt <= now) throw new CommandError(`${network} is not linked to any member`);
  const text = `${network} no longer counts as ${link.member}. ${soon}`;
  return { json: { network, member: link.member }, text };
}

const idOf = async ({ readNetworkSalt }: Target, network: string) => networkId(network, keyOf(await readNetworkSalt()));
