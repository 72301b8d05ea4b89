import { afterAll, describe, expect, test } from '@jest/globals';
import { hashKey } from '../../../lambda/identity/issued-keys.ts';
import { accountLabel, accountMember } from '../../../lambda/identity/member.ts';
import { networkId } from '../../../lambda/identity/network.ts';
import { quotaWindow } from '../../../lambda/quota/policy.ts';
import { keyOf, subkeyOf } from '../../../lambda/settings/secrets.ts';
import { createMemberStore } from '../../../lambda/store/admin/members.ts';
import { createToken } from '../../../lambda/store/counters.ts';
import { now, salt, startKeysProgram } from './keys-program.ts';

const oidcIssuer = 'https://login.example.com';

const { database, target, counters, runOn, run, runJson, close } = await startKeysProgram({ oidcIssuer });
afterAll(close);

const idsIn = async (...filter: string[]) =>
  (await runJson('list', ...filter)).keys.map(({ id }: { id: string }) => id);

test('issue prints a key of which the store has only the hash', async () => {
  const options = ['--member', 'ada', '--label', 'her laptop', '--limit', '7', '--expires', '30d'];
  const issued = await runJson('issue', ...options);
  expect(Object.keys(issued)).toEqual(['key', 'id', 'member']);
  expect(issued.key).toMatch(/^ltk_.{43}$/);
  expect(await target.keys.findKey(hashKey(issued.key))).toEqual({
    ...{ id: issued.id, member: 'ada', label: 'her laptop', limit: 7 },
    ...{ createdAt: now, expiresAt: now + 30 * 86_400_000 },
  });
});

test('issue says that the key is shown once, and how to use it; it makes up a member', async () => {
  const text = await run('issue');
  const key = /ltk_[\w-]{43}/.exec(text)?.[0] ?? 'none';
  const record = await target.keys.findKey(hashKey(key));
  expect(record?.member).toMatch(/^member-[0-9a-f]{10}$/);
  expect(text).toContain(`A new key for ${record?.member}. It will not be shown again:`);
  expect(text).toMatch(/limit +40 requests a day, shared by all keys of the member\nexpires +never\n/);
  expect(text).toContain(`curl http://127.0.0.1:8787/v1/chat/completions -H 'x-api-key: ${key}'`);
  expect(text).toContain('"model":"acme"');
  expect(await run('issue')).not.toContain(record?.member);
});

test('show gives limits, and the usage of the current window', async () => {
  const limits = { guestLimit: 0, guestWindow: 'daily', memberLimit: 40, burstLimit: 20 } as const;
  const window = quotaWindow({ kind: 'member', member: 'grace' }, now, limits);
  for (let charge = 0; charge < 3; charge += 1) await counters.charge(window, createToken());
  const shared = await runJson('issue', '--member', 'grace');
  const shown = await runJson('show', shared.id);
  expect(shown).toEqual({
    ...{ id: shared.id, member: 'grace', label: null, state: 'live' },
    ...{ limit: null, budget: null, models: null, burst: null },
    ...{ createdAt: '2026-11-21T10:00:00.000Z', expiresAt: null, revokedAt: null },
    usage: { used: 3, limit: 40, remaining: 37, resetsAt: '2026-11-22T00:00:00.000Z', budget: null },
  });
  expect(await run('show', shared.id)).toMatch(/used +3 of 40, 37 left until 2026-11-22 00:00 UTC$/);
  expect(await runJson('show', shared.key)).toEqual(shown);

  const own = await runJson('issue', '--member', 'grace', '--limit', '5', '--expires', '1h');
  expect((await runJson('show', own.id)).usage).toMatchObject({ used: 0, limit: 5, remaining: 5 });
  const text = await run('show', own.id);
  expect(text).toMatch(/limit +5 requests a day, for this key alone\n/);
  expect(text).toMatch(/expires +2026-11-21 11:00 UTC\n/);
});

test('revoke ends a key, by its id or by itself, and list shows the state of each', async () => {
  const member = 'list-test';
  const issue = (label: string) => runJson('issue', '--member', member, '--label', label, '--limit', '9');
  const [live, byId, byKey] = [await issue('one'), await issue('two'), await issue('three')];
  await target.keys.put('0'.repeat(64), { id: 'key_expired', member, label: 'a\u001bb', createdAt: 1, expiresAt: now });
  const revoked = await runJson('revoke', byId.id);
  expect(revoked).toMatchObject({ id: byId.id, state: 'revoked', revokedAt: '2026-11-21T10:00:00.000Z' });
  expect(await run('revoke', byKey.key)).toContain(`${byKey.id} of ${member} is revoked`);
  expect((await target.keys.findKey(hashKey(byKey.key)))?.revokedAt).toBe(now);

  const listed = await runJson('list', '--member', member);
  const states = Object.fromEntries(listed.keys.map(({ id, state }: Record<string, string>) => [id, state]));
  expect(states).toEqual({ [live.id]: 'live', [byId.id]: 'revoked', [byKey.id]: 'revoked', key_expired: 'expired' });
  const lines = (await run('list', '--member', member)).split('\n').map((line) => line.split(/ {2,}/));
  const own = ['LIMIT', 'BUDGET', 'BURST', 'MODELS'];
  expect(lines[0]).toEqual(['ID', 'MEMBER', 'LABEL', ...own, 'CREATED', 'EXPIRES', 'STATE']);
  expect(lines).toContainEqual([live.id, member, 'one', '9', '2026-11-21 10:00 UTC', 'never', 'live']);
  const expired = ['1970-01-01 00:00 UTC', '2026-11-21 10:00 UTC', 'expired'];
  expect(lines.at(-1)).toEqual(['key_expired', member, 'a?b', ...expired]);
  expect(JSON.stringify([lines, listed, revoked])).not.toContain('ltk_');
  expect(await run('list', '--member', 'nobody')).toBe('No keys.');
});

test('link counts a network as a member for 24 hours', async () => {
  const linked = await runJson('link', '2001:DB8:0:0::/64', '--member', 'ada');
  expect(linked).toEqual({ network: '2001:db8::/64', member: 'ada', expiresAt: '2026-11-22T10:00:00.000Z' });
  const link = await target.keys.findLink(networkId('2001:db8::/64', keyOf(salt)));
  expect(link).toEqual({ member: 'ada', linkedAt: now, expiresAt: now + 24 * 3_600_000 });
});

test('unlink ends a link, however the network is written, and says so where there is none', async () => {
  expect(await run('link', '2001:db8:7::1', '--member', 'ada', '--hours', '1')).toBe(
    '2001:db8:7::/64 counts as ada until 2026-11-21 11:00 UTC, with any placeholder as its key.',
  );
  expect(await run('unlink', '2001:DB8:7:0::/64')).toBe(
    '2001:db8:7::/64 no longer counts as ada. Within 60 seconds this holds everywhere.',
  );
  const network = networkId('2001:db8:7::/64', keyOf(salt));
  expect(await target.keys.findLink(network)).toBeUndefined();
  await expect(run('unlink', '2001:db8:7::1')).rejects.toThrow('2001:db8:7::/64 is not linked to any member');
  await target.keys.link(network, { member: 'ada', linkedAt: now - 2, expiresAt: now });
  await expect(run('unlink', '2001:db8:7::1')).rejects.toThrow('2001:db8:7::/64 is not linked to any member');
});

test('no network is linked to a member of a gateway with ACCESS=keys, but links are ended', async () => {
  const network = networkId('203.0.113.11', keyOf(salt));
  await run('link', '203.0.113.11', '--member', 'ada');
  const closed = { access: 'keys' } as const;
  const refused = runOn(closed, 'link', '203.0.113.12', '--member', 'ada');
  await expect(refused).rejects.toThrow('ACCESS=keys, where links count for nothing: issue a key instead');
  expect(await target.keys.findLink(networkId('203.0.113.12', keyOf(salt)))).toBeUndefined();
  await runOn(closed, 'unlink', '203.0.113.11');
  expect(await target.keys.findLink(network)).toBeUndefined();
});

test.each([
  ['show', 'key_unknown'],
  ['revoke', 'key_unknown'],
  ['revoke', `ltk_${'x'.repeat(43)}`],
])('%s %s finds no such key, and repeats nothing that may be one', async (command, id) => {
  await expect(run(command, id)).rejects.toThrow(/^there is no such key: `list` shows the ids of all$/);
});

test('limit and expire change a key, and undo the change', async () => {
  const { id, key } = await runJson('issue', '--member', 'change-test');
  const stored = () => target.keys.findKey(hashKey(key));
  expect(await run('limit', id, '9')).toBe(
    `${id} is changed. Within 60 seconds this holds everywhere.\n\n` +
      `id       ${id}\nlimit    9 requests a day, for this key alone\nexpires  never`,
  );
  expect(await stored()).toMatchObject({ limit: 9 });
  expect(await runJson('limit', key, 'none')).toMatchObject({ id, limit: null });
  expect(await run('expire', id, '2h')).toMatch(/\nexpires +2026-11-21 12:00 UTC$/);
  expect(await stored()).toMatchObject({ expiresAt: now + 7_200_000 });
  expect(await runJson('expire', id, 'never')).toMatchObject({ id, expiresAt: null });
  expect(Object.keys((await stored()) ?? {}).toSorted()).toEqual(['createdAt', 'id', 'member']);
});

test('an end that the operator gives a key stays: its owner can no longer renew it', async () => {
  const renewable = { member: 'oidc:renew-test', createdAt: now, expiresAt: now + 1_000, renewable: true } as const;
  await target.keys.put('1'.repeat(64), { id: 'key_expire', ...renewable });
  await target.keys.put('2'.repeat(64), { id: 'key_rotate', ...renewable });
  await run('expire', 'key_expire', '2h');
  const { id } = await runJson('rotate', 'key_rotate', '--overlap', '1h');
  const left = [await target.keys.findById('key_expire'), await target.keys.findById('key_rotate')];
  for (const key of left) expect(key).not.toHaveProperty('renewable');
  // The new one takes the old one's place.
  expect(await target.keys.findById(id)).toMatchObject({ renewable: true, expiresAt: renewable.expiresAt });
});

describe('rotate', () => {
  const issued = () => runJson('issue', '--member', 'rotate-test', '--label', 'ci', '--limit', '7', '--expires', '30d');
  const described = { member: 'rotate-test', label: 'ci', limit: 7, expiresAt: now + 30 * 86_400_000 };

  test('makes a key that differs only in its text, and revokes the old one', async () => {
    const old = await issued();
    const rotated = await runJson('rotate', old.id);
    expect(rotated).toMatchObject({ member: 'rotate-test', replaced: old.id });
    expect(rotated.key).not.toBe(old.key);
    expect(await target.keys.findKey(hashKey(rotated.key))).toEqual({ ...described, id: rotated.id, createdAt: now });
    expect(await target.keys.findKey(hashKey(old.key))).toMatchObject({ ...described, revokedAt: now });
    await expect(run('rotate', old.id)).rejects.toThrow(`${old.id} is revoked: issue a new key instead`);
  });

  test('keeps the old key for a while if asked to, but never past its own expiry', async () => {
    const old = await issued();
    expect(await run('rotate', old.id, '--overlap', '1d')).toMatch(/works until 2026-11-22 10:00 UTC beside it\.$/);
    expect(await target.keys.findKey(hashKey(old.key))).toEqual(
      expect.objectContaining({ id: old.id, expiresAt: now + 86_400_000 }),
    );
    const other = await issued();
    await run('rotate', other.id, '--overlap', '90d');
    expect(await target.keys.findKey(hashKey(other.key))).toMatchObject({ expiresAt: described.expiresAt });
  });

  test('locks nobody out if the old key can’t be revoked', async () => {
    const old = await issued();
    const revoke = () => Promise.reject(new Error('no more writes'));
    await expect(runOn({ keys: { ...target.keys, revoke } }, 'rotate', old.id)).rejects.toThrow(
      /^The new key key_\S+ is ltk_\S{43}, but key_\S+ may still work \(no more writes\): revoke it$/,
    );
    expect(await target.keys.findKey(hashKey(old.key))).not.toHaveProperty('revokedAt');
  });
});

describe('a person who signs in with the company account', () => {
  const issueFor = (subject: string) =>
    runJson('issue', '--member', accountMember(subkeyOf(keyOf(salt), accountLabel), oidcIssuer, subject));
  const liveOf = (subject: string) => idsIn('--subject', subject, '--state', 'live');

  test('is found by what the provider calls them, and loses every live key at once', async () => {
    const ids = (await Promise.all(Array.from({ length: 3 }, () => issueFor('ada')))).map(({ id }) => id);
    const ended = await issueFor('ada');
    await run('revoke', ended.id);
    const other = await issueFor('grace');
    expect(await idsIn('--subject', 'ada')).toHaveLength(4);

    const { member, revoked } = await runJson('revoke', '--subject', 'ada');
    expect(member).toMatch(/^oidc:[\w-]{43}$/);
    expect(revoked.map(({ id }: { id: string }) => id).toSorted()).toEqual(ids.toSorted());
    expect(new Set(revoked.map(({ state }: { state: string }) => state))).toEqual(new Set(['revoked']));
    expect(await liveOf('ada')).toEqual([]);
    expect(await liveOf('grace')).toEqual([other.id]);
    const { documents, keysTable } = database;
    const { wasSignedOut } = createMemberStore(documents, keysTable);
    const signedOut = [wasSignedOut(member, now), wasSignedOut(other.member, now)];
    expect(await Promise.all(signedOut)).toEqual([true, false]);
    expect(await run('revoke', '--subject', 'ada')).toBe(
      `${member} has no live keys, so none is revoked. Nobody is signed in as them any more.`,
    );
    expect(await run('revoke', '--subject', 'grace')).toBe(
      `${other.id} of ${other.member}: revoked. Within 60 seconds this holds everywhere. Nobody is signed in as them any more.`,
    );
  });

  test('is somebody else at another issuer, and nobody where none is set', async () => {
    const { id } = await issueFor('linus');
    const elsewhere = { oidcIssuer: 'https://elsewhere.example.com' };
    expect(await runOn(elsewhere, 'list', '--subject', 'linus')).toBe('No keys.');
    for (const command of ['list', 'revoke']) {
      await expect(runOn({ oidcIssuer: undefined }, command, '--subject', 'linus')).rejects.toThrow(
        'nobody signs in here with a company account, as OIDC_ISSUER is not set: use --member or an id',
      );
    }
    expect(await liveOf('linus')).toEqual([id]);
  });
});
