import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createLimits } from '../../../lambda/accounts/page-limits.ts';
import { hashKey } from '../../../lambda/identity/issued-keys.ts';
import { networkId } from '../../../lambda/identity/network.ts';
import { memberWindow } from '../../../lambda/quota/policy.ts';
import { keyOf } from '../../../lambda/settings/secrets.ts';
import { createToken } from '../../../lambda/store/counters.ts';
import { createCounters } from '../../../lambda/store/dynamodb/counters.ts';
import { bearer, startTestWallet, type TestWallet, testAccount } from '../../support/accounts.ts';
import { metricsOf } from '../../support/metrics.ts';
import type { SpoilStore } from '../../support/store-proxy.ts';

const start = Date.UTC(2026, 10, 21, 12);
const idOf = (address: string) => networkId(address, keyOf('the salt of the tests'));

/** Each test has its own wallet and network. */
let tests = 0;
let account: ReturnType<typeof testAccount>;
let member: string;
let network: string;
beforeEach(() => {
  tests += 1;
  account = testAccount(tests);
  member = account.address.toLowerCase();
  network = `203.0.113.${tests}`;
});

describe('the accounts function', () => {
  let wallet: TestWallet;
  let time: number;
  let sourceIp: string;

  beforeAll(async () => {
    wallet = await startTestWallet({ now: () => time, sourceIp: () => sourceIp });
  });
  beforeEach(() => {
    time = start;
    sourceIp = network;
  });
  afterAll(async () => {
    expect(wallet.faults).toEqual([]);
    await wallet[Symbol.asyncDispose]();
  });

  test('creates a message that says where, who, what for and until when', async () => {
    const { status, body } = await wallet.post('/cli/challenge', { address: account.address, chainId: 137 });
    const { host } = new URL(wallet.url);
    expect(status).toBe(200);
    expect(body.message.replace(/Nonce: .+/, 'Nonce: N').split('\n')).toEqual([
      `${host} wants you to sign in with your Ethereum account:`,
      account.address,
      '',
      'Link the network I am on to this wallet for 24 hours, and get an API key. Signing costs nothing and sends no transaction.',
      '',
      `URI: http://${host}/cli`,
      'Version: 1',
      'Chain ID: 137',
      'Nonce: N',
      'Issued At: 2026-11-21T12:00:00.000Z',
      'Expiration Time: 2026-11-21T12:05:00.000Z',
    ]);
    expect(body.expiresAt).toBe('2026-11-21T12:05:00.000Z');
  });

  test('has the address with its checksum, however it is spelt', async () => {
    for (const address of [account.address.toLowerCase(), account.address.toUpperCase()]) {
      const { status, body } = await wallet.post('/cli/challenge', { address });
      expect([status, body.message]).toEqual([200, expect.stringContaining(`\n${account.address}\n`)]);
    }
  });

  test('creates sixty messages an hour per network', async () => {
    const { callDynamoDb, quotaTable } = wallet.dynamoDb;
    const limits = createLimits({ counters: createCounters(callDynamoDb, quotaTable, () => time), now: () => time });
    for (let count = 0; count < 59; count += 1) await limits.count('challenges', idOf(network));
    const ask = async () => (await wallet.post('/cli/challenge', { address: account.address })).status;
    expect([await ask(), await ask()]).toEqual([200, 429]);
  });

  test('issues a key for a signature, links the network for a day, and stores no secret', async () => {
    const { status, body } = await wallet.sign(account);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      wallet: member,
      keys: [{ id: body.key?.id }],
      keysAllowed: 5,
      link: { network, expiresAt: '2026-11-22T12:00:00.000Z' },
      quota: { limit: 50, remaining: 50, resetSeconds: 43_200 },
      session: { expiresAt: '2026-11-21T12:15:00.000Z' },
    });
    expect(body.key?.key).toMatch(/^ltk_[\w-]{43}$/);
    expect(await wallet.keys.findKey(hashKey(body.key?.key ?? ''))).toMatchObject({ id: body.key?.id, member });
    const link = { member, linkedAt: start, expiresAt: start + 86_400_000 };
    expect(await wallet.keys.findLink(idOf(network))).toEqual(link);
    expect(await wallet.keys.anyKeyIssued()).toBe(true);

    // Neither key, session nor message is stored as it is, and none is logged.
    const { key } = body.key ?? { key: '' };
    const stored = JSON.stringify(await wallet.readTables());
    for (const secret of [key, body.session.token, 'wants you to sign in', network]) {
      expect(stored).not.toContain(secret);
    }
    expect(stored).toMatch(/"session#[0-9a-f]{64}"/);
    const logged = wallet.log.join('');
    expect(logged).toContain(body.key?.id);
    for (const secret of [key, body.session.token, member, account.address, network]) {
      expect(logged).not.toContain(secret);
    }
  });

  test('signing in to manage shows the keys, and creates or links nothing', async () => {
    const first = await wallet.sign(account);
    sourceIp = '198.51.100.1';
    const { status, body } = await wallet.sign(account, 'manage');
    expect(status).toBe(200);
    expect(body.keys).toEqual([{ id: first.body.key?.id, createdAt: '2026-11-21T12:00:00.000Z' }]);
    expect(body).not.toHaveProperty('key');
    expect(await wallet.keys.findLink(idOf('198.51.100.1'))).toBeUndefined();
  });

  test('a session lists, issues, links and revokes, for 15 minutes', async () => {
    const session = bearer(await wallet.sign(account, 'manage'));
    expect((await wallet.post('/cli/keys', {}, session)).body.keys).toEqual([]);
    const issued = (await wallet.post('/cli/keys/issue', {}, session)).body;
    expect(issued.keys).toEqual([{ id: issued.key?.id, createdAt: issued.key?.createdAt }]);
    expect((await wallet.post('/cli/network', {}, session)).body.link.network).toBe(network);
    expect((await wallet.keys.findLink(idOf(network)))?.member).toBe(member);

    const revoked = await wallet.post('/cli/keys/revoke', { id: issued.key?.id }, session);
    expect([revoked.status, revoked.body.keys]).toEqual([200, []]);
    expect(JSON.parse(wallet.log.at(-1) ?? '')).toMatchObject({ message: 'revoked', keyId: issued.key?.id });
    expect((await wallet.keys.findKey(hashKey(issued.key?.key ?? '')))?.revokedAt).toBe(start);
    const again = await wallet.post('/cli/keys/revoke', { id: issued.key?.id }, session);
    expect([again.status, again.body.error.code]).toEqual([404, 'not_found']);

    time += 15 * 60_000;
    const late = await wallet.post('/cli/keys', {}, session);
    expect([late.status, late.body.error]).toEqual([
      401,
      expect.objectContaining({
        code: 'invalid_session',
        message: 'You are not signed in, or your session is over. Please sign in again.',
      }),
    ]);
  });

  test('shows the remaining quota of the day and the remaining budget', async () => {
    const environment = { MEMBER_BUDGET: '20', MEMBER_BUDGET_WINDOW: 'week', CURRENCY: 'EUR' };
    await using priced = await startTestWallet({ environment, now: () => time });
    const counters = createCounters(priced.dynamoDb.callDynamoDb, priced.dynamoDb.quotaTable, () => time);
    const quota = async () => (await priced.sign(account, 'manage')).body.quota;
    const memberBudget = { amount: 20_000_000, window: 'week' } as const;
    const { budget, ...window } = { ...memberWindow({ memberLimit: 50, memberBudget }, { member }, time), burst: 100 };
    const reserving = { ...window, ...(budget && { budget: { ...budget, reserve: 1_250_000 } }) };
    const charged = await counters.charge(reserving, createToken());
    if (!charged.granted || !charged.reservation) throw new Error('not reserved');
    const used = { kind: 'vision', input: 900, output: 30 } as const;
    await counters.settle(reserving, charged.reservation, { spent: 1_250_000, used });
    for (let charge = 2; charge <= 7; charge += 1) await counters.charge(window, createToken());
    const [resetSeconds, money] = [43_200, { currency: 'EUR', window: 'week', limit: '20.00' }];
    const models = [{ id: 'svc-vision', inputTokens: 900, outputTokens: 30, spent: '1.25' }];
    const left = { ...money, remaining: '18.75', resetSeconds: resetSeconds + 86_400, models };
    expect(await quota()).toEqual({ limit: 50, remaining: 43, resetSeconds, budget: left });
    time = Date.UTC(2026, 10, 22);
    expect(await quota()).toMatchObject({ limit: 50, remaining: 50, resetSeconds: 86_400 });
  });

  const issue = async (session: ReturnType<typeof bearer>) =>
    (await wallet.post('/cli/keys/issue', {}, session)).status;
  const linkNetwork = async (session: ReturnType<typeof bearer>) =>
    (await wallet.post('/cli/network', {}, session)).status;

  test('a sixth key does not count against the ten a day, and a refused link leaves the network’s as it was', async () => {
    const session = bearer(await wallet.sign(account, 'manage'));
    for (let key = 0; key < 5; key += 1) expect(await issue(session)).toBe(200);
    const tables = await wallet.readTables();
    expect(await issue(session)).toBe(409);
    expect(await wallet.readTables()).toEqual(tables);
    for (let link = 0; link < 5; link += 1) expect(await linkNetwork(session)).toBe(200);
    const before = await wallet.keys.findLink(idOf(network));
    time += 60_000;
    for (const from of [network, '198.51.100.2']) {
      sourceIp = from;
      expect([await linkNetwork(session), (await wallet.sign(account)).status]).toEqual([429, 429]);
    }
    expect(await wallet.keys.findLink(idOf(network))).toEqual(before);
    expect(await wallet.keys.findLink(idOf(sourceIp))).toBeUndefined();
  });

  test('a sixth key that races with the fifth undoes its count', async () => {
    const session = bearer(await wallet.sign(account, 'manage'));
    for (let key = 0; key < 4; key += 1) expect(await issue(session)).toBe(200);
    const clicks = await Promise.all(Array.from({ length: 3 }, () => issue(session)));
    expect(clicks.sort()).toEqual([200, 409, 409]);
    for (let link = 0; link < 5; link += 1) expect(await linkNetwork(session)).toBe(200);
    expect(await linkNetwork(session)).toBe(429);
  });

  test('a key has the label that its owner gives it', async () => {
    const message = await wallet.challenge(account);
    const signature = account.sign(message);
    const refusedLabels = [7, 'x'.repeat(41), 'two\nlines', 'abc\u202ecba', '\u001b[2J'];
    for (const label of refusedLabels) {
      const { status, body } = await wallet.post('/cli/link', { message, signature, label });
      expect([status, body.error.message]).toEqual([400, 'label must be a text of at most 40 visible characters.']);
    }
    const { body } = await wallet.post('/cli/link', { message, signature, label: '  Ada’s laptop 💻 ' });
    expect(body.key).toMatchObject({ label: 'Ada’s laptop 💻' });
    const session = { authorization: `Bearer ${body.session.token}` };
    for (const label of refusedLabels) {
      expect((await wallet.post('/cli/keys/issue', { label }, session)).status).toBe(400);
    }
    time += 1;
    await wallet.post('/cli/keys/issue', { label: 'phone' }, session);
    time += 1;
    await wallet.post('/cli/keys/issue', { label: ' ' }, session);
    const { keys } = (await wallet.post('/cli/keys', {}, session)).body;
    expect(keys.map(({ label }) => label)).toEqual([undefined, 'phone', 'Ada’s laptop 💻']);
    const stored = (await wallet.keys.list(member)).map(({ label }) => label);
    expect(stored.toSorted()).toEqual(['Ada’s laptop 💻', 'issued at /cli', 'phone']);
    expect(wallet.log.join('')).not.toMatch(/laptop|phone/);
  });

  test('every answer says when the link of this network to this wallet ends, and reveals no other link', async () => {
    const session = bearer(await wallet.sign(account));
    const linkSeen = async (headers = session) => (await wallet.post('/cli/keys', {}, headers)).body.link;
    const linked = { network, expiresAt: '2026-11-22T12:00:00.000Z' };
    expect((await wallet.sign(account, 'manage')).body.link).toEqual(linked);
    expect(await linkSeen()).toEqual(linked);
    const stranger = bearer(await wallet.sign(testAccount(100), 'manage'));
    expect(await linkSeen(stranger)).toEqual({ ...linked, expiresAt: null });
    sourceIp = '198.51.100.1';
    expect(await linkSeen()).toEqual({ network: '198.51.100.1', expiresAt: null });
    sourceIp = network;
    time += 86_400_000;
    expect((await wallet.sign(account, 'manage')).body.link).toEqual({ ...linked, expiresAt: null });
  });
});

test('behind a CDN the signature is for APP_URL, and the gateway is where GATEWAY_URL says', async () => {
  const environment = { APP_URL: 'https://app.example/ai/', GATEWAY_URL: 'https://api.example' };
  await using wallet = await startTestWallet({ environment });
  const message = await wallet.challenge(account);
  expect(message).toMatch(/^app\.example wants you/);
  expect(message).toContain('\nURI: https://app.example/ai/cli\n');
  const signature = account.sign(message);
  const answer = await wallet.post('/cli/link', { message, signature }, { origin: 'https://app.example' });
  expect(answer.status).toBe(200);
  expect(await (await fetch(`${wallet.url}/cli/info`)).json()).toMatchObject({ gatewayUrl: 'https://api.example' });
});

test('a key that could not be shown is not issued', async () => {
  let isDown = false;
  // Every answer has the rest of the member's quota.
  const spoilStore: SpoilStore = ({ name, body }) =>
    isDown && name === 'GetItem' && body.includes(`member#${member}`) ? 'failing' : undefined;
  await using wallet = await startTestWallet({ spoilStore });
  const session = bearer(await wallet.sign(account, 'manage'));
  isDown = true;
  expect([(await wallet.sign(account)).status, (await wallet.post('/cli/keys/issue', {}, session)).status]).toEqual([
    503, 503,
  ]);
  expect(await wallet.keys.list(member)).toEqual([]);
  isDown = false;
  expect((await wallet.post('/cli/keys/issue', {}, session)).status).toBe(200);
  expect(await wallet.keys.list(member)).toHaveLength(1);
  // A failed attempt counts against the ten a day, because its outcome may be unknown.
  isDown = true;
  for (let attempt = 4; attempt <= 10; attempt += 1) await wallet.post('/cli/keys/issue', {}, session);
  isDown = false;
  expect((await wallet.post('/cli/keys/issue', {}, session)).status).toBe(429);
});

test('a store failure is not reported as a lack of slots', async () => {
  const spoilStore: SpoilStore = ({ name, body }) =>
    name === 'PutItem' && body.includes('"key#') ? 'failing' : undefined;
  await using wallet = await startTestWallet({ spoilStore });
  expect((await wallet.sign(account)).status).toBe(503);
});

test('behind a CDN, its header counts if it has the secret, nobody else is served, and faults are counted', async () => {
  const environment = { EDGE_HEADER: 'x-viewer', EDGE_SECRET_ID: 'edge', APP_URL: 'https://app.example' };
  const secret = 'the secret of the edge';
  let [time, isDown] = [Date.now(), false];
  await using wallet = await startTestWallet({
    environment: { ...environment, METRICS_NAMESPACE: 'Prod' },
    readSecret: async () => (isDown ? Promise.reject(new Error('no secrets')) : secret),
    now: () => time,
  });
  const ask = async (proof: string, viewer?: string) => {
    const headers = { 'x-origin-secret': proof, ...(viewer && { 'x-viewer': viewer }) };
    const response = await fetch(`${wallet.url}/cli/info`, { headers });
    return { status: response.status, body: await response.json() };
  };
  const served = { status: 200, body: { network: '198.51.100.1', gatewayUrl: 'https://app.example' } };
  expect(await ask(secret, '198.51.100.1')).toMatchObject(served);
  expect(await ask('another', '198.51.100.1')).toMatchObject({ status: 404 });
  expect(await ask(secret)).toMatchObject({ status: 500 });
  // The last secret stays in use if it can't be refreshed.
  isDown = true;
  time += 61_000;
  expect(await ask(secret, '198.51.100.1')).toMatchObject(served);
  const lines = wallet.log.map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { level: 'info', message: 'refused', status: 404, reason: 'around_edge' },
    { level: 'error', message: 'refused', status: 500, reason: 'no_viewer_address' },
    { level: 'warn', message: 'secret not refreshed' },
  ]);
  expect(lines.map((line) => metricsOf(line, 'Prod'))).toEqual([{}, { GatewayErrors: 1 }, { SecretsNotRefreshed: 1 }]);
});
