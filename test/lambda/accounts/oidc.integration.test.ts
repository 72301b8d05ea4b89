import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createLimits } from '../../../lambda/accounts/page-limits.ts';
import { networkId } from '../../../lambda/identity/network.ts';
import { keyOf } from '../../../lambda/settings/secrets.ts';
import { createCounters } from '../../../lambda/store/dynamodb/counters.ts';
import { type IdentityProvider, startIdentityProvider } from '../../../local/demo/identity-provider.ts';
import { listenLocally } from '../../../local/listen-locally.ts';
import { bearer, type Reply, startTestWallet, type TestWallet, testAccount } from '../../support/accounts.ts';
import {
  begin,
  callbackUrl,
  companySettings,
  type Issuer,
  makeState,
  random,
  redeem,
  signInAt,
  signInOn,
} from '../../support/identity-provider.ts';
import type { SpoilStore } from '../../support/store-proxy.ts';

const day = 86_400_000;

/** The gateway's clock; the provider has its own. Each test has its own year, and so fresh rate limits and no keys. */
let time = Date.now();
let running: AsyncDisposableStack;
let provider: IdentityProvider;
/** Of everyone at that provider. */
let wallet: TestWallet;
beforeAll(async () => {
  provider = await startIdentityProvider({ callbackUrl });
  wallet = await startTestWallet({ now: () => time, environment: companySettings(provider) });
});
beforeEach(() => {
  time += 365 * day;
  running = new AsyncDisposableStack();
});
afterEach(() => running.disposeAsync());
afterAll(async () => {
  expect(wallet.faults).toEqual([]);
  await wallet[Symbol.asyncDispose]();
  await provider.close();
});

type Environment = Readonly<Record<string, string>>;

async function startWallet(
  issuer: Issuer,
  environment: Environment = {},
  readSecret?: (id: string) => Promise<string>,
) {
  const settings = { ...companySettings(issuer), ...environment };
  const other = await startTestWallet({ now: () => time, environment: settings, ...(readSecret && { readSecret }) });
  running.use(other);
  running.defer(() => expect(other.faults).toEqual([]));
  return other;
}

/** Signs a person in, from start to finish. */
const signIn = (login = 'ada', { url } = wallet) => signInOn(url, login);

/** Approves a device, and returns a function that polls for its key. */
async function letTerminalIn(account: Pick<Reply, 'body'>, at = wallet) {
  const terminal = { client_id: 'svc-terminal' };
  const { device_code, user_code } = (await at.postForm('/oauth/device_authorization', terminal)).body;
  await at.post('/cli/device/approve', { code: user_code }, bearer(account));
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  return async () => (await at.postForm('/oauth/token', { ...terminal, grant_type, device_code })).body;
}

test('a person signs in, gets keys that expire, and renews those that they tick', async () => {
  const account = await signIn();
  expect(account.status).toBe(200);
  expect(account.body).toMatchObject({
    ...{ wallet: null, keys: [], keysAllowed: 20, link: null },
    person: { name: 'Ada', email: 'ada@example.com' },
  });
  const issue = async () => (await wallet.post('/cli/keys/issue', {}, bearer(account))).body.key;
  const [first, second] = [await issue(), await issue()];
  const record = await wallet.keys.findById(first?.id ?? '');
  expect(record?.member).toMatch(/^oidc:[\w-]{43}$/);
  expect(record?.expiresAt).toBe(time + 30 * day);

  time += 20 * day;
  const again = await signIn();
  expect(again.body.keys.map(({ id }) => id).toSorted()).toEqual([first?.id, second?.id].toSorted());
  const renewed = await wallet.post('/cli/keys/renew', { ids: [first?.id] }, bearer(again));
  expect(renewed.status).toBe(200);
  const endOf = async (id = '') => (await wallet.keys.findById(id))?.expiresAt;
  expect([await endOf(first?.id), await endOf(second?.id)]).toEqual([time + 30 * day, time + 10 * day]);

  // Another person can't see them.
  const other = await signIn('mallory');
  expect(other.body.keys).toEqual([]);
  expect((await wallet.post('/cli/keys/renew', { ids: [second?.id] }, bearer(other))).status).toBe(404);
  // Nor can it link a network, as wallets do.
  expect((await wallet.post('/cli/network', {}, bearer(other))).status).toBe(404);
  const owner = bearer(await wallet.sign(testAccount(1), 'manage'));
  expect((await wallet.post('/cli/keys/renew', { ids: [] }, owner)).status).toBe(404);
  const many = { ids: Array(101).fill(second?.id) };
  expect((await wallet.post('/cli/keys/renew', many, bearer(again))).status).toBe(400);
  // An expired key is not revived.
  time += 15 * day;
  const late = await signIn();
  expect((await wallet.post('/cli/keys/renew', { ids: [second?.id] }, bearer(late))).status).toBe(404);

  const kept = JSON.stringify(await wallet.readTables()) + wallet.log.join('');
  expect(kept).not.toMatch(/\bada\b|mallory|example\.com|"sub"/i);
});

test('an expiry that an operator set, or that of a device’s key, can’t be renewed', async () => {
  const account = await signIn();
  const { id = '' } = (await wallet.post('/cli/keys/issue', {}, bearer(account))).body.key ?? {};
  await (await letTerminalIn(account))();
  const before = (await wallet.post('/cli/keys', {}, bearer(account))).body.keys;
  const terminals = before.find(({ label }) => label === 'terminal')?.id ?? '';
  expect(before.flatMap((key) => (key.renewable ? [key.id] : []))).toEqual([id]);

  // As `keys expire` leaves it.
  await wallet.keys.change(id, { expiresAt: time + day, renewable: undefined });
  for (const fixed of [id, terminals]) {
    const renewed = await wallet.post('/cli/keys/renew', { ids: [fixed] }, bearer(account));
    expect([renewed.status, renewed.body.error.message]).toEqual([
      400,
      'The end of this key is fixed: make a new one.',
    ]);
  }
});

test('signing a member out ends sessions and approved device flows', async () => {
  const account = await signIn();
  const { id = '' } = (await wallet.post('/cli/keys/issue', {}, bearer(account))).body.key ?? {};
  const member = (await wallet.keys.findById(id))?.member ?? '';
  const poll = await letTerminalIn(account);

  await wallet.signOut(member, time);
  for (const path of ['keys', 'keys/issue', 'keys/renew']) {
    expect((await wallet.post(`/cli/${path}`, {}, bearer(account))).body.error.code).toBe('invalid_session');
  }
  expect(await poll()).toMatchObject({ error: 'access_denied' });
  // Whoever the provider still accepts can sign in again.
  time += 1;
  expect((await wallet.post('/cli/keys/issue', {}, bearer(await signIn()))).status).toBe(200);
});

test('a key that is being stored while its member is signed out does not work', async () => {
  let whileStored = async () => {};
  const spoilStore: SpoilStore = ({ name, body }) =>
    name === 'PutItem' && body.includes('"key#') ? whileStored() : undefined;
  await using slow = await startTestWallet({ now: () => time, environment: companySettings(provider), spoilStore });
  const account = await signIn('ada', slow);
  const issue = async () => (await slow.post('/cli/keys/issue', {}, bearer(account))).body;
  const { id = '' } = (await issue()).key ?? {};
  const member = (await slow.keys.findById(id))?.member ?? '';
  const poll = await letTerminalIn(account, slow);

  // Both have been looked at by then.
  const signedOut = Promise.withResolvers<void>();
  let waiting = 0;
  whileStored = async () => {
    waiting += 1;
    if (waiting === 2) await slow.signOut(member, time).then(signedOut.resolve);
    await signedOut.promise;
  };
  const answers = await Promise.all([poll(), issue()]);
  expect(answers).toMatchObject([{ error: 'access_denied' }, { error: { code: 'invalid_session' } }]);
  const held = await slow.keys.list(member);
  expect(held).toHaveLength(3);
  expect(held.filter(({ revokedAt }) => revokedAt === undefined)).toMatchObject([{ id }]);
  expect(slow.faults).toEqual([]);
});

test('a device’s key lives no longer than the member’s other keys', async () => {
  const environment = { ...companySettings(provider), OIDC_KEY_DAYS: '7' };
  await using brief = await startTestWallet({ now: () => time, environment });
  const poll = await letTerminalIn(await signIn('ada', brief), brief);
  expect(await poll()).toMatchObject({ expires_in: 7 * 86_400 });
  expect(brief.faults).toEqual([]);
});

test('userinfo claims count as well, and whoever is refused gets no session', async () => {
  const sparing = await startIdentityProvider({ callbackUrl, claimsInIdToken: false });
  running.defer(sparing.close);
  const restricted = await startWallet(sparing, {
    ...{ OIDC_ALLOW_ALL: 'false', OIDC_ALLOWED_DOMAINS: 'example.com', OIDC_ALLOWED_GROUPS: 'engineers' },
  });
  expect((await signIn('ada', restricted)).body).toMatchObject({ person: { email: 'ada@example.com' } });
  const { status, body } = await signIn('mallory', restricted);
  expect([status, body]).toEqual([403, { error: expect.objectContaining({ code: 'not_allowed' }) }]);
  const kept = JSON.stringify(await restricted.readTables()) + restricted.log.join('');
  expect(kept).not.toMatch(/mallory|example\./);
});

test('an authorization response works once, in the tab that started it, with its own code', async () => {
  const made = makeState();
  const { search } = await signInAt(await begin(wallet.url, made), 'ada');
  const answer = search.slice(1);
  const refused: readonly [what: string, own: typeof made, answer: string][] = [
    ['another state', { ...made, state: random() }, answer],
    ['no state', made, answer.replace(/state=[^&]*&?/, '')],
    ['the issuer of another provider', made, answer.replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fevil.example')],
    ['no issuer', made, answer.replace(/&iss=[^&]*/, '')],
  ];
  for (const [what, own, text] of refused) {
    const { status, body } = await redeem(wallet.url, own, text);
    expect([what, status, body.error.code]).toEqual([what, 401, 'invalid_sign_in']);
  }
  expect((await redeem(wallet.url, made, answer)).status).toBe(200);
  const { status, body } = await redeem(wallet.url, made, answer);
  expect([status, body.error.message]).toEqual([401, expect.stringMatching(/expired or was used before/)]);

  // A mismatch of either the verifier or the nonce is enough.
  for (const wrong of ['nonce', 'verifier']) {
    const honest = makeState();
    const own = await signInAt(await begin(wallet.url, honest), 'ada');
    const { status, body } = await redeem(wallet.url, { ...honest, [wrong]: random() }, own.search.slice(1));
    expect([wrong, status, body.error.code]).toEqual([wrong, 401, 'invalid_sign_in']);
  }
});

test('a network may send sixty made-up responses an hour to the provider; successful ones don’t count', async () => {
  const { callDynamoDb, quotaTable } = wallet.dynamoDb;
  const limits = createLimits({ counters: createCounters(callDynamoDb, quotaTable, () => time), now: () => time });
  const here = networkId('127.0.0.1', keyOf('the salt of the tests'));
  for (let count = 0; count < 58; count += 1) await limits.count('sign-ins', here);
  const makeUp = async () => {
    const made = makeState();
    return (await redeem(wallet.url, made, `code=guessed&state=${made.state}`)).status;
  };
  expect(await makeUp()).toBe(401);
  for (const login of ['ada', 'mallory']) expect((await signIn(login)).status).toBe(200);
  expect([await makeUp(), await makeUp()]).toEqual([401, 429]);
  expect((await signIn()).body.error.message).toMatch(/a network may fail to sign in 60 times an hour/);
});

test('tells a person who declined from a provider that is down', async () => {
  const made = makeState();
  const logged = wallet.log.length;
  const declined = `error=access_denied&state=${made.state}&iss=${encodeURIComponent(provider.issuer)}`;
  const { status, body } = await redeem(wallet.url, made, declined);
  expect([status, body.error.message]).toEqual([401, expect.stringMatching(/declined on your company’s page/)]);
  expect(wallet.log.slice(logged).join('')).not.toContain('SignInsFailed');

  const nobody = await listenLocally(createServer());
  await nobody.close();
  const lonely = await startWallet({ issuer: nobody.url, clientId: 'gateway' });
  const down = await lonely.post('/cli/oidc/begin', { ...made, challenge: random() });
  expect([down.status, down.body.error.message]).toEqual([503, expect.stringMatching(/can’t be reached right now/)]);
  const line = JSON.parse(lonely.log.find((text) => text.includes('refused')) ?? '{}');
  expect(line).toMatchObject({ level: 'error', reason: 'sign_in_broken', SignInsFailed: 1 });
  expect(line).not.toHaveProperty('GatewayErrors');
});

test('the client secret is read from its own secret, and a new one takes effect within a minute', async () => {
  const { issuer, clientId } = provider;
  let text: string | undefined;
  const readSecret = async (id: string) =>
    id === 'the-clients-own' && text !== undefined ? `${text}\n` : Promise.reject(new Error(id));
  const other = await startWallet({ issuer, clientId }, { OIDC_CLIENT_SECRET_ID: 'the-clients-own' }, readSecret);
  // Nobody is sent to the provider in vain, and it is not blamed.
  const unread = await other.post('/cli/oidc/begin', { ...makeState(), challenge: random() });
  expect([unread.status, unread.body.error.message]).toEqual([503, expect.stringMatching(/cannot read its own/)]);
  expect(other.log.join('')).not.toContain('SignInsFailed');
  text = 'not yet set';
  expect((await signIn('ada', other)).body.error.message).toMatch(/can’t be trusted/);
  expect(other.log.join('')).toContain('"causeCode":"OAUTH_WWW_AUTHENTICATE_CHALLENGE"');
  text = provider.clientSecret;
  time += 61_000;
  expect((await signIn('ada', other)).status).toBe(200);
  expect(other.log.join('')).not.toContain(text);
});
