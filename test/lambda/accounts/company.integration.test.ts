import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { type IdentityProvider, startIdentityProvider } from '../../../local/demo/identity-provider.ts';
import { listenLocally } from '../../../local/listen-locally.ts';
import { bearer, type Reply, startTestWallet, type TestWallet, testAccount } from '../../support/accounts.ts';
import { signInAt } from '../../support/identity-provider.ts';

const appUrl = 'https://app.example';
const callbackUrl = `${appUrl}/cli/oidc/callback`;
const day = 86_400_000;

let time: number;
let running: AsyncDisposableStack;
beforeEach(() => {
  time = Date.now();
  running = new AsyncDisposableStack();
});
afterEach(() => running.disposeAsync());

async function startProvider(options: Partial<Parameters<typeof startIdentityProvider>[0]> = {}) {
  const provider = await startIdentityProvider({ callbackUrl, ...options });
  running.defer(provider.close);
  return provider;
}

type Issuer = Pick<IdentityProvider, 'issuer' | 'clientId' | 'clientSecret'>;

async function startWallet({ issuer, clientId, clientSecret }: Issuer, environment: Record<string, string> = {}) {
  const provider = { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret };
  const wallet = await startTestWallet({
    now: () => time,
    environment: { APP_URL: appUrl, OIDC_ALLOW_ALL: 'true', ...provider, ...environment },
  });
  running.use(wallet);
  running.defer(() => expect(wallet.faults).toEqual([]));
  return wallet;
}

const random = () => randomBytes(32).toString('base64url');
const makeState = () => ({ state: random(), nonce: random(), verifier: random() });
type Made = ReturnType<typeof makeState>;

/** Where the page sends the browser. */
async function begin(wallet: TestWallet, { state, nonce, verifier }: Made): Promise<string> {
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const { body } = await wallet.post('/cli/oidc/begin', { state, nonce, challenge });
  return (body as unknown as { url: string }).url;
}

const redeem = (wallet: TestWallet, made: Made, answer: string) => wallet.post('/cli/oidc/redeem', { ...made, answer });

/** The whole way of a person, as far as the answer that the accounts function gives. */
async function signIn(wallet: TestWallet, login = 'ada', made = makeState()): Promise<Reply> {
  const back = await signInAt(await begin(wallet, made), login);
  return redeem(wallet, made, back.search.slice(1));
}

/** Lets a terminal in, and gives what asks for its key. */
async function letTerminalIn(wallet: TestWallet, account: Reply) {
  const ask = async (path: string, fields = {}): Promise<Record<string, string>> => {
    const body = new URLSearchParams({ client_id: 'svc-terminal', ...fields });
    return (await (await fetch(`${wallet.url}/oauth/${path}`, { method: 'POST', body })).json()) as Record<
      string,
      string
    >;
  };
  const { device_code, user_code } = await ask('device_authorization');
  await wallet.post('/cli/device/approve', { code: user_code }, bearer(account));
  return () => ask('token', { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code });
}

describe('with a real provider', () => {
  test('a person signs in, gets keys that expire, and renews those that they tick', async () => {
    const provider = await startProvider();
    const wallet = await startWallet(provider);
    const account = await signIn(wallet);
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
    const again = await signIn(wallet);
    expect(again.body.keys.map(({ id }) => id).toSorted()).toEqual([first?.id, second?.id].toSorted());
    const renewed = await wallet.post('/cli/keys/renew', { ids: [first?.id] }, bearer(again));
    expect(renewed.status).toBe(200);
    const endOf = async (id = '') => (await wallet.keys.findById(id))?.expiresAt;
    expect([await endOf(first?.id), await endOf(second?.id)]).toEqual([time + 30 * day, time + 10 * day]);

    // Another person has nothing of it.
    const other = await signIn(wallet, 'mallory');
    expect(other.body.keys).toEqual([]);
    expect((await wallet.post('/cli/keys/renew', { ids: [second?.id] }, bearer(other))).status).toBe(404);
    // Nor can it link a network, as wallets do.
    expect((await wallet.post('/cli/network', {}, bearer(other))).status).toBe(404);
    const owner = bearer(await wallet.sign(testAccount(1), 'manage'));
    expect((await wallet.post('/cli/keys/renew', { ids: [] }, owner)).status).toBe(404);
    const many = { ids: Array(101).fill(second?.id) };
    expect((await wallet.post('/cli/keys/renew', many, bearer(again))).status).toBe(400);
    // What has ended is not brought back.
    time += 15 * day;
    const late = await signIn(wallet);
    expect((await wallet.post('/cli/keys/renew', { ids: [second?.id] }, bearer(late))).status).toBe(404);

    const kept = JSON.stringify(await wallet.readTables()) + wallet.log.join('');
    expect(kept).not.toMatch(/\bada\b|mallory|example\.com|"sub"/i);
  });

  test('whom the operator signs out has no session any more, and no terminal that waits for its key', async () => {
    const wallet = await startWallet(await startProvider());
    const account = await signIn(wallet);
    const { id = '' } = (await wallet.post('/cli/keys/issue', {}, bearer(account))).body.key ?? {};
    const member = (await wallet.keys.findById(id))?.member ?? '';
    const poll = await letTerminalIn(wallet, account);

    await wallet.signOut(member, time);
    for (const path of ['keys', 'keys/issue', 'keys/renew']) {
      expect((await wallet.post(`/cli/${path}`, {}, bearer(account))).body.error.code).toBe('invalid_session');
    }
    expect(await poll()).toMatchObject({ error: 'access_denied' });
    // Whom the provider still lets in can come again.
    time += 1;
    expect((await wallet.post('/cli/keys/issue', {}, bearer(await signIn(wallet)))).status).toBe(200);
  });

  test('a person gets ten keys a day, whatever networks they come from', async () => {
    const wallet = await startWallet(await startProvider());
    const account = await signIn(wallet);
    const issue = () => wallet.post('/cli/keys/issue', {}, bearer(account));
    for (let count = 0; count < 10; count += 1) expect((await issue()).status).toBe(200);
    const { status, body } = await issue();
    expect([status, body.error.message]).toEqual([
      429,
      expect.stringMatching(/: a person gets 10 keys and links a day\./),
    ]);
    // A colleague on the same network is not held up.
    const other = await signIn(wallet, 'mallory');
    expect((await wallet.post('/cli/keys/issue', {}, bearer(other))).status).toBe(200);
  });

  test('claims that stand only behind the access token count as well, and whoever is kept out gets no session', async () => {
    const wallet = await startWallet(await startProvider({ claimsInIdToken: false }), {
      ...{ OIDC_ALLOW_ALL: 'false', OIDC_ALLOWED_DOMAINS: 'example.com', OIDC_ALLOWED_GROUPS: 'engineers' },
    });
    expect((await signIn(wallet)).body).toMatchObject({ person: { email: 'ada@example.com' } });
    const { status, body } = await signIn(wallet, 'mallory');
    expect([status, body]).toEqual([403, { error: expect.objectContaining({ code: 'not_allowed' }) }]);
    expect(JSON.stringify(await wallet.readTables()) + wallet.log.join('')).not.toMatch(/mallory|example\./);
  });

  test('an answer serves once, for the tab that asked, with the code that it was given', async () => {
    const wallet = await startWallet(await startProvider());
    const made = makeState();
    const { search } = await signInAt(await begin(wallet, made), 'ada');
    const answer = search.slice(1);
    const refused: readonly [what: string, made: Made, answer: string][] = [
      ['another state', { ...made, state: random() }, answer],
      ['no state', made, answer.replace(/state=[^&]*&?/, '')],
      ['the issuer of another provider', made, answer.replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fevil.example')],
      ['no issuer', made, answer.replace(/&iss=[^&]*/, '')],
    ];
    for (const [what, own, text] of refused) {
      const { status, body } = await redeem(wallet, own, text);
      expect([what, status, body.error.code]).toEqual([what, 401, 'invalid_sign_in']);
    }
    expect((await redeem(wallet, made, answer)).status).toBe(200);
    const { status, body } = await redeem(wallet, made, answer);
    expect([status, body.error.message]).toEqual([401, expect.stringMatching(/expired or was used before/)]);

    // Each of the two that the code is bound to is enough to refuse it.
    for (const wrong of ['nonce', 'verifier']) {
      const honest = makeState();
      const own = await signInAt(await begin(wallet, honest), 'ada');
      const { status, body } = await redeem(wallet, { ...honest, [wrong]: random() }, own.search.slice(1));
      expect([wrong, status, body.error.code]).toEqual([wrong, 401, 'invalid_sign_in']);
    }
  });

  test('sixty answers that were made up reach the provider from a network in an hour, and those of people don’t count', async () => {
    const wallet = await startWallet(await startProvider());
    const makeUp = async () => {
      const made = makeState();
      return (await redeem(wallet, made, `code=guessed&state=${made.state}`)).status;
    };
    const statuses = await Promise.all(Array.from({ length: 59 }, makeUp));
    expect(new Set(statuses)).toEqual(new Set([401]));
    for (const login of ['ada', 'mallory']) expect((await signIn(wallet, login)).status).toBe(200);
    expect([await makeUp(), await makeUp()]).toEqual([401, 429]);
    expect((await signIn(wallet)).body.error.message).toMatch(/a network may fail to sign in 60 times an hour/);
    time += 3_600_000;
    expect((await signIn(wallet)).status).toBe(200);
  });

  test('whatever host is called, people are sent to the provider and back to APP_URL', async () => {
    const provider = await startProvider();
    const wallet = await startWallet(provider);
    const { state, nonce } = makeState();
    const given = JSON.stringify({ state, nonce, challenge: random(), redirect_uri: 'https://evil.example' });
    const path = `${wallet.url}/cli/oidc/begin?redirect_uri=https://evil.example`;
    const words = ['-s', '-H', 'host: evil.example', '-H', 'content-type: application/json', '-d', given, path];
    const { stdout } = await promisify(execFile)('curl', words);
    const url = new URL(JSON.parse(stdout).url);
    expect(url.origin).toBe(provider.issuer);
    expect(url.searchParams.getAll('redirect_uri')).toEqual([callbackUrl]);
    expect(stdout).not.toContain('evil');
  });

  test('a person who declines is told so; a provider that is down is not theirs to mend', async () => {
    const provider = await startProvider();
    const wallet = await startWallet(provider);
    const made = makeState();
    const declined = `error=access_denied&state=${made.state}&iss=${encodeURIComponent(provider.issuer)}`;
    await begin(wallet, made);
    const { status, body } = await redeem(wallet, made, declined);
    expect([status, body.error.message]).toEqual([401, expect.stringMatching(/declined on your company’s page/)]);
    expect(wallet.log.join('')).not.toContain('SignInsFailed');

    await provider.close();
    const fresh = await startWallet(provider);
    const down = await fresh.post('/cli/oidc/begin', { ...made, challenge: random() });
    expect([down.status, down.body.error.message]).toEqual([503, expect.stringMatching(/can’t be reached right now/)]);
    const line = JSON.parse(fresh.log.find((text) => text.includes('refused')) ?? '{}');
    expect(line).toMatchObject({ level: 'error', reason: 'sign_in_broken', SignInsFailed: 1 });
    expect(line).not.toHaveProperty('GatewayErrors');
  });
});

const replyJson = (response: ServerResponse, body: object) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const describeProvider = (issuer: string) => ({
  ...{ issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` },
  jwks_uri: `${issuer}/keys`,
});

describe('with a provider that lies', () => {
  type Sign = (claims: Record<string, unknown>) => Promise<string> | string;

  /** A provider whose tokens the test makes. */
  async function startLiar(makeToken: Sign, publicKeys: () => Promise<object[]> | object[]) {
    const claims: Record<string, unknown> = {};
    const server = createServer(async (incoming, response) => {
      if (incoming.url?.endsWith('openid-configuration')) return replyJson(response, describeProvider(url));
      if (incoming.url === '/keys') return replyJson(response, { keys: await publicKeys() });
      const tokens = { access_token: 'an access token', token_type: 'Bearer', id_token: await makeToken(claims) };
      return replyJson(response, tokens);
    });
    const { url, close } = await listenLocally(server);
    running.defer(close);
    const wallet = await startWallet({ issuer: url, clientId: 'gateway', clientSecret: 's' });
    const made = makeState();
    const now = Math.floor(Date.now() / 1000);
    Object.assign(claims, { iss: url, aud: 'gateway', sub: 'ada', nonce: made.nonce, iat: now, exp: now + 300 });
    return { wallet, made, claims, ask: () => redeem(wallet, made, `code=x&state=${made.state}`) };
  }

  const pair = () => generateKeyPair('RS256', { extractable: true });
  const publish = async (key: Awaited<ReturnType<typeof pair>>, kid: string) => ({
    ...(await exportJWK(key.publicKey)),
    ...{ kid, alg: 'RS256', use: 'sig' },
  });

  test('only a token that it signed, for this gateway, now and here, is taken', async () => {
    const [own, foreign] = [await pair(), await pair()];
    const signed =
      (change: object = {}, key = own.privateKey, header: object = {}): Sign =>
      (claims) =>
        new SignJWT({ ...claims, ...change }).setProtectedHeader({ alg: 'RS256', kid: 'one', ...header }).sign(key);
    const past = Math.floor(Date.now() / 1000) - 3_600;
    const atHash = (text: string) => createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');
    let make: Sign = signed();
    const { ask, wallet } = await startLiar(
      (claims) => make(claims),
      async () => [await publish(own, 'one')],
    );
    const cases: readonly [what: string, make: Sign, status: number][] = [
      ['a good one', signed(), 200],
      ['a good one with at_hash', signed({ at_hash: atHash('an access token') }), 200],
      ['the hash of another access token', signed({ at_hash: atHash('another') }), 401],
      ['alg none', (claims) => new UnsecuredJWT(claims).encode(), 401],
      ['another key under the same id', signed({}, foreign.privateKey), 401],
      ['an unknown key id', signed({}, own.privateKey, { kid: 'two' }), 401],
      ['another audience', signed({ aud: 'another' }), 401],
      ['another issuer', signed({ iss: 'https://evil.example' }), 401],
      ['expired', signed({ iat: past, exp: past + 300 }), 401],
      ['half a minute late, as clocks differ', signed({ exp: Math.floor(Date.now() / 1000) - 30 }), 200],
      ['another nonce', signed({ nonce: random() }), 401],
      ['no nonce', signed({ nonce: undefined }), 401],
    ];
    const outcomes: [what: string, status: number][] = [];
    for (const [what, making] of cases) {
      make = making;
      const reply = await ask();
      outcomes.push([what, reply.status]);
      if (reply.status === 401) expect(reply.body.error.message).toMatch(/can’t be trusted|expired/);
    }
    expect(outcomes).toEqual(cases.map(([what, , status]) => [what, status]));
    const codes = wallet.log.map((line) => JSON.parse(line).causeCode);
    expect(codes).toEqual(
      expect.arrayContaining(['OAUTH_JWT_CLAIM_COMPARISON_FAILED', 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED']),
    );
    expect(wallet.log.join('')).toContain('SignInsFailed');
  });

  test('its new keys are read when a token names one of them', async () => {
    const [old, fresh] = [await pair(), await pair()];
    let current = { key: old, kid: 'old' };
    const { ask } = await startLiar(
      (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: current.kid }).sign(current.key.privateKey),
      async () => [await publish(current.key, current.kid)],
    );
    expect((await ask()).status).toBe(200);
    current = { key: fresh, kid: 'new' };
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => performance.timeOrigin + performance.now() + 61_000);
    try {
      expect((await ask()).status).toBe(200);
    } finally {
      clock.mockRestore();
    }
  });
});

test('the provider’s description is kept for a minute, and an old one is better than none', async () => {
  let asked = 0;
  let isUp = true;
  const server = createServer((_, response) => {
    asked += 1;
    if (isUp) replyJson(response, describeProvider(url));
    else response.destroy();
  });
  const { url, close } = await listenLocally(server);
  running.defer(close);
  const wallet = await startWallet({ issuer: url, clientId: 'gateway', clientSecret: 's' });
  const leave = async () => new URL(await begin(wallet, makeState())).origin;
  expect([await leave(), await leave(), asked]).toEqual([url, url, 1]);
  time += 60_000;
  expect([await leave(), asked]).toEqual([url, 2]);
  time += 60_000;
  isUp = false;
  expect([await leave(), asked]).toEqual([url, 3]);
});

test('the client’s secret is the text of its own secret, and a new one counts within a minute', async () => {
  const provider = await startProvider();
  let text = 'not yet set';
  const wallet = await startTestWallet({
    now: () => time,
    readSecret: async (id) => (id === 'the-clients-own' ? `${text}\n` : Promise.reject(new Error(id))),
    environment: {
      ...{ APP_URL: appUrl, OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: provider.clientId, OIDC_ALLOW_ALL: 'true' },
      OIDC_CLIENT_SECRET_ID: 'the-clients-own',
    },
  });
  running.use(wallet);
  expect((await signIn(wallet)).body.error.message).toMatch(/can’t be trusted/);
  expect(wallet.log.join('')).toContain('"causeCode":"OAUTH_WWW_AUTHENTICATE_CHALLENGE"');
  text = provider.clientSecret;
  time += 61_000;
  await signIn(wallet); // finds the old one, and has it read anew
  expect((await signIn(wallet)).status).toBe(200);
  expect(wallet.log.join('')).not.toContain(text);
});

test('a terminal’s key lives no longer than other keys of its person', async () => {
  const wallet = await startWallet(await startProvider(), { OIDC_KEY_DAYS: '7' });
  const poll = await letTerminalIn(wallet, await signIn(wallet));
  expect(await poll()).toMatchObject({ expires_in: 7 * 86_400 });
});
