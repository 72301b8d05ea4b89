import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createLimits } from '../../../lambda/accounts/page-limits.ts';
import { networkId } from '../../../lambda/identity/network.ts';
import { keyOf } from '../../../lambda/settings/secrets.ts';
import { createCounters } from '../../../lambda/store/dynamodb/counters.ts';
import { type IdentityProvider, startIdentityProvider } from '../../../local/demo/identity-provider.ts';
import { listenLocally } from '../../../local/listen-locally.ts';
import { startTestWallet, type TestWallet } from '../../support/accounts.ts';
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

const day = 86_400_000;

/** The gateway's clock; the provider has its own. Each test has its own year, and so fresh rate limits. */
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
