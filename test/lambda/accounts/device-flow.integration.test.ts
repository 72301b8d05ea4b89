import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { bearer, startTestWallet, type TestWallet, testAccount } from '../../support/accounts.ts';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

let wallet: TestWallet;
let time = Date.UTC(2026, 10, 23, 12);
/** Each test has its own network and people, and so fresh rate limits. */
let tests = 0;
let address: string;
beforeAll(async () => {
  wallet = await startTestWallet({ now: () => time, sourceIp: () => address });
});
beforeEach(() => {
  tests += 1;
  address = `198.51.100.${tests}`;
});
afterAll(async () => {
  expect(wallet.faults).toEqual([]);
  await wallet[Symbol.asyncDispose]();
});

const terminal = { client_id: 'svc-terminal' };
const begin = async (at = wallet) => (await at.postForm('/oauth/device_authorization', terminal)).body;
const poll = (device_code: string) =>
  wallet.postForm('/oauth/token', { ...terminal, grant_type: deviceGrant, device_code });
const pollError = async (code: string) => (await poll(code)).body.error;

const person = (number = 0) => testAccount(10 * tests + number);
const keysOf = async (number: number) => wallet.keys.list(person(number).address.toLowerCase());

/** Signs in with a wallet, and returns a client for the endpoints that take a user code. */
async function signIn(number = 0, at = wallet) {
  const signed = bearer(await at.sign(person(number), 'terminal'));
  return (what: 'find' | 'approve' | 'deny', code: string) => at.post(`/cli/device/${what}`, { code }, signed);
}

test('a device gets codes, waits, and gets a key of the person who approves it', async () => {
  const begun = await wallet.postForm('/oauth/device_authorization', terminal);
  expect(begun.status).toBe(200);
  expect(begun.headers.get('cache-control')).toBe('no-store');
  expect(begun.body).toEqual({
    device_code: expect.stringMatching(/^[\w-]{43}$/),
    user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
    verification_uri: `${wallet.url}/cli/device`,
    expires_in: 600,
    interval: 5,
  });
  const { device_code, user_code } = begun.body;
  const pending = await poll(device_code);
  expect([pending.status, pending.body.error]).toEqual([400, 'authorization_pending']);

  time += 90_000;
  const ask = await signIn();
  expect((await ask('find', user_code.toLowerCase().replace('-', ' '))).body).toEqual({ sameNetwork: true, age: 90 });
  address = '203.0.113.9';
  expect((await ask('find', user_code)).body).toEqual({ sameNetwork: false, age: 90 });
  expect((await ask('approve', user_code)).status).toBe(200);

  const { status, headers, body } = await poll(device_code);
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(body).toEqual({
    access_token: expect.stringMatching(/^ltk_[\w-]{43}$/),
    token_type: 'Bearer',
    expires_in: 30 * 86_400,
  });
  const [record] = await keysOf(0);
  expect(record).toMatchObject({ label: 'terminal', expiresAt: time + 30 * 86_400_000 });
  // Once only.
  expect(await pollError(device_code)).toBe('invalid_grant');

  const stored = JSON.stringify(await wallet.readTables()) + wallet.log.join('');
  for (const secret of [device_code, user_code, user_code.replace('-', ''), body.access_token, address]) {
    expect(stored).not.toContain(secret);
  }
  // User codes are few, so an unkeyed hash could be reversed.
  for (const code of [device_code, user_code, user_code.replace('-', '')]) {
    for (const encoding of ['base64url', 'base64', 'hex'] as const) {
      expect(stored).not.toContain(createHash('sha256').update(code).digest(encoding));
    }
  }
});

test('a code can be looked up before sign-in, but deciding needs a session', async () => {
  const { user_code, device_code } = await begin();
  const found = await wallet.post('/cli/device/find', { code: user_code });
  expect([found.status, found.body]).toEqual([200, { sameNetwork: true, age: 0 }]);
  expect((await wallet.post('/cli/device/find', { code: 'BBBB-BBBB' })).status).toBe(404);
  for (const decision of ['approve', 'deny']) {
    expect((await wallet.post(`/cli/device/${decision}`, { code: user_code })).status).toBe(401);
  }
  expect(await pollError(device_code)).toBe('authorization_pending');
});

test('polling writes only for a pending device that keeps to the interval', async () => {
  const writes: string[] = [];
  await using watched = await startTestWallet({
    now: () => time,
    spoilStore: ({ name }) => {
      if (name !== 'GetItem') writes.push(name);
      return undefined;
    },
  });
  const { device_code } = await begin(watched);
  const ask = async (code: string) =>
    (await watched.postForm('/oauth/token', { ...terminal, grant_type: deviceGrant, device_code: code })).body.error;
  writes.length = 0;
  for (const code of ['x'.repeat(43), 'y']) expect(await ask(code)).toBe('invalid_grant');
  expect(writes).toEqual([]);
  const answers = [];
  for (let asked = 0; asked < 5; asked += 1) answers.push(await ask(device_code));
  expect(answers).toEqual(['authorization_pending', ...Array(4).fill('slow_down')]);
  time += 600_000;
  expect(await ask(device_code)).toBe('expired_token');
  expect(writes).toHaveLength(1);
});

test('denied, too fast and expired are reported with OAuth’s errors', async () => {
  const ask = await signIn();
  const refused = await begin();
  await ask('deny', refused.user_code);
  expect(await pollError(refused.device_code)).toBe('access_denied');
  expect((await ask('find', refused.user_code)).status).toBe(404);

  const slow = await begin();
  expect(await pollError(slow.device_code)).toBe('authorization_pending');
  time += 4_000;
  expect(await pollError(slow.device_code)).toBe('slow_down');
  time += 4_600; // a terminal that waits five seconds may come a little early
  expect(await pollError(slow.device_code)).toBe('authorization_pending');
  time += 600_000;
  expect(await pollError(slow.device_code)).toBe('expired_token');
  expect((await (await signIn())('find', slow.user_code)).status).toBe(404);
});

test('a person with five keys is told so, and so is a device whose slot was taken meanwhile', async () => {
  const ask = await signIn();
  const session = bearer(await wallet.sign(person(), 'manage'));
  const issue = async () => expect((await wallet.post('/cli/keys/issue', {}, session)).status).toBe(200);
  for (let count = 0; count < 4; count += 1) await issue();
  const { device_code, user_code } = await begin();
  expect((await ask('approve', user_code)).status).toBe(200);
  await issue();
  expect((await poll(device_code)).body).toMatchObject({
    error: 'access_denied',
    error_description: expect.stringContaining('5 keys'),
  });
  expect((await ask('approve', (await begin()).user_code)).body.error.code).toBe('too_many_keys');
});

test('an invalid request is refused with the name of the field', async () => {
  const good = { ...terminal, grant_type: deviceGrant, device_code: 'x' };
  const cases: readonly [fields: Record<string, string> | string, error: string, words: RegExp, type?: string][] = [
    [{ ...good, client_id: 'another' }, 'invalid_client', /client_id must be svc-terminal/],
    [{ ...good, client_id: '' }, 'invalid_request', /client_id is missing/],
    [{ ...good, grant_type: 'authorization_code' }, 'unsupported_grant_type', /grant_type must be urn:/],
    [{ ...good, device_code: '' }, 'invalid_request', /device_code is missing/],
    [`${new URLSearchParams(good)}&client_id=svc-terminal`, 'invalid_request', /client_id is there more than once/],
    [JSON.stringify(good), 'invalid_request', /x-www-form-urlencoded/, 'application/json'],
  ];
  for (const [fields, error, words, type] of cases) {
    const answer = await wallet.postForm('/oauth/token', fields, type ? { 'content-type': type } : {});
    expect([answer.status, answer.body]).toEqual([400, { error, error_description: expect.stringMatching(words) }]);
  }
  for (const path of ['/oauth/device_authorization', '/oauth/token']) {
    const got = await fetch(wallet.url + path);
    const refused = { error: 'invalid_request', error_description: 'This path takes POST only.' };
    expect([got.status, await got.json()]).toEqual([405, refused]);
  }
  // Another site's page can't start a device flow for its visitor.
  const foreign = await wallet.postForm('/oauth/device_authorization', good, { origin: 'https://evil.example' });
  expect([foreign.status, foreign.body.error]).toEqual([403, 'invalid_request']);
});

describe('codes can’t be guessed or used twice', () => {
  test('ten wrong ones per network in ten minutes, however many at once', async () => {
    const ask = (_: 'find', code: string) => wallet.post('/cli/device/find', { code });
    const { user_code } = await begin();
    const wrong = user_code.startsWith('B') ? 'CCCC-CCCC' : 'BBBB-BBBB';
    // A correct one is not counted.
    expect((await ask('find', user_code)).status).toBe(200);
    const statuses = await Promise.all(Array.from({ length: 14 }, async () => (await ask('find', wrong)).status));
    expect(statuses.filter((status) => status === 404)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
    expect((await ask('find', user_code)).status).toBe(429);
    time += 600_000;
    expect((await ask('find', (await begin()).user_code)).status).toBe(200);
  });

  test('five lookups per code', async () => {
    const ask = await signIn();
    const { user_code } = await begin();
    for (let look = 0; look < 5; look += 1) expect((await ask('find', user_code)).status).toBe(200);
    expect((await ask('approve', user_code)).status).toBe(404);
  });

  test('twenty device flows per network and hour', async () => {
    time = Math.ceil(time / 3_600_000) * 3_600_000;
    for (let count = 0; count < 20; count += 1) await begin();
    const { status, headers, body } = await wallet.postForm('/oauth/device_authorization', terminal);
    expect([status, body.error, headers.get('retry-after')]).toEqual([429, 'slow_down', '3600']);
    address = '203.0.113.9';
    expect((await begin()).user_code).toMatch(/-/);
  });

  test('of two concurrent approvals one wins, and of many polls one gets the key', async () => {
    const people = await Promise.all([signIn(0), signIn(1)]);
    const { device_code, user_code } = await begin();
    const approvals = await Promise.all(people.map((ask) => ask('approve', user_code)));
    expect(approvals.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    const polls = await Promise.all(Array.from({ length: 8 }, () => poll(device_code)));
    expect(polls.filter(({ status }) => status === 200)).toHaveLength(1);
    const keys = await Promise.all([0, 1].map(keysOf));
    expect(keys.flat()).toHaveLength(1);
  });

  test('a late approval counts against no limit', async () => {
    let looks = 0;
    const bothLook = Promise.withResolvers<void>();
    await using other = await startTestWallet({
      ...{ now: () => time, sourceIp: () => address },
      spoilStore({ body }) {
        if (!body.includes('ADD tries') || ++looks > 2) return undefined;
        if (looks === 2) bothLook.resolve();
        return bothLook.promise;
      },
    });
    const people = await Promise.all([signIn(0, other), signIn(1, other)]);
    const { user_code } = await begin(other);
    const approvals = await Promise.all(people.map((ask) => ask('approve', user_code)));
    const late = people[approvals.findIndex(({ status }) => status === 404)];
    const approveAnother = async () => (await late?.('approve', (await begin(other)).user_code))?.status;
    for (let count = 0; count < 10; count += 1) expect(await approveAnother()).toBe(200);
    expect(await approveAnother()).toBe(429);
  });
});

test('what a wallet signed for one purpose is valid for no other', async () => {
  const sessionFor = async (purpose: 'link' | 'manage' | 'terminal') => bearer(await wallet.sign(person(), purpose));
  const begun = await begin();
  const [linked, managed, terminal] = [
    await sessionFor('link'),
    await sessionFor('manage'),
    await sessionFor('terminal'),
  ];
  for (const other of [linked, managed]) {
    for (const act of ['approve', 'deny']) {
      expect((await wallet.post(`/cli/device/${act}`, { code: begun.user_code }, other)).status).toBe(401);
    }
    expect((await wallet.post('/cli/keys', {}, other)).status).toBe(200);
  }
  for (const path of ['keys', 'keys/issue', 'keys/revoke', 'network']) {
    expect((await wallet.post(`/cli/${path}`, { id: 'x' }, terminal)).status).toBe(401);
  }
  expect((await wallet.post('/cli/device/approve', { code: begun.user_code }, terminal)).status).toBe(200);
});
