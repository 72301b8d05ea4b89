import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type IdentityProvider, startIdentityProvider } from '../../../local/demo/identity-provider.ts';
import { bearer, type Reply, startTestWallet, type TestWallet, testAccount } from '../../support/accounts.ts';
import { callbackUrl, companySettings, signInOn } from '../../support/identity-provider.ts';
import type { SpoilStore } from '../../support/store-proxy.ts';

const day = 86_400_000;

/** The gateway's clock; the provider has its own. Each test has its own year, and so fresh rate limits and no keys. */
let time = Date.now();
let provider: IdentityProvider;
let wallet: TestWallet;
beforeAll(async () => {
  provider = await startIdentityProvider({ callbackUrl });
  wallet = await startTestWallet({ now: () => time, environment: companySettings(provider) });
});
beforeEach(() => {
  time += 365 * day;
});
afterAll(async () => {
  expect(wallet.faults).toEqual([]);
  await wallet[Symbol.asyncDispose]();
  await provider.close();
});

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
