import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { listenLocally } from '../../../local/listen-locally.ts';
import { startTestWallet, type TestWallet } from '../../support/accounts.ts';
import { begin, companySettings, type Issuer, makeState, random, redeem } from '../../support/identity-provider.ts';

/* Providers that deceive, are slow or in trouble: a real one does none of that when it is asked to. */

let time = Date.now();
let running: AsyncDisposableStack;
beforeEach(() => {
  running = new AsyncDisposableStack();
});
afterEach(() => running.disposeAsync());

async function startWallet(issuer: Issuer, environment: Readonly<Record<string, string>> = {}) {
  const wallet = await startTestWallet({
    now: () => time,
    environment: { ...companySettings(issuer), ...environment },
  });
  running.use(wallet);
  running.defer(() => expect(wallet.faults).toEqual([]));
  return wallet;
}

const replyJson = (response: ServerResponse, body: object) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const describeProvider = (issuer: string) => ({
  ...{ issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` },
  ...{ jwks_uri: `${issuer}/keys`, id_token_signing_alg_values_supported: ['ES256', 'Ed25519', 'EdDSA'] },
});

test('accepts an id token only with the right signature, audience, nonce and time', async () => {
  type Sign = (claims: Record<string, unknown>) => Promise<string> | string;
  const [own, foreign] = [await generateKeyPair('ES256', { extractable: true }), await generateKeyPair('ES256')];
  const published = { ...(await exportJWK(own.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
  const edwards = await generateKeyPair('Ed25519', { extractable: true });
  const alsoPublished = { ...(await exportJWK(edwards.publicKey)), kid: 'edwards', use: 'sig' };
  const [made, now] = [makeState(), Math.floor(Date.now() / 1000)];
  let make: Sign;
  const server = createServer(async (incoming, response) => {
    if (incoming.url?.endsWith('openid-configuration')) return replyJson(response, describeProvider(url));
    if (incoming.url === '/keys') return replyJson(response, { keys: [published, alsoPublished] });
    const claims = { iss: url, aud: 'gateway', sub: 'ada', nonce: made.nonce, iat: now, exp: now + 300 };
    const tokens = { access_token: 'an access token', token_type: 'Bearer', id_token: await make(claims) };
    return replyJson(response, tokens);
  });
  const { url, close } = await listenLocally(server);
  running.defer(close);
  const deceived = await startWallet({ issuer: url, clientId: 'gateway', clientSecret: 's' });

  const signed =
    (change: object = {}, key = own.privateKey, header: object = {}): Sign =>
    (claims) =>
      new SignJWT({ ...claims, ...change }).setProtectedHeader({ alg: 'ES256', kid: 'one', ...header }).sign(key);
  const atHash = (text: string, bits = 256) =>
    createHash(`sha${bits}`)
      .update(text)
      .digest()
      .subarray(0, bits / 16)
      .toString('base64url');
  const byEdwards = (alg: string) =>
    signed({ at_hash: atHash('an access token', 512) }, edwards.privateKey, { alg, kid: 'edwards' });
  const cases: readonly [what: string, make: Sign, status: number][] = [
    ['a good one', signed(), 200],
    ['a good one with at_hash', signed({ at_hash: atHash('an access token') }), 200],
    ['the same by Ed25519', byEdwards('Ed25519'), 200],
    ['the same by EdDSA, as it was called before', byEdwards('EdDSA'), 200],
    ['the hash of another access token', signed({ at_hash: atHash('another') }), 401],
    ['alg none', (claims) => new UnsecuredJWT(claims).encode(), 401],
    ['another key under the same id', signed({}, foreign.privateKey), 401],
    ['an unknown key id', signed({}, own.privateKey, { kid: 'two' }), 401],
    ['another audience', signed({ aud: 'another' }), 401],
    ['another issuer', signed({ iss: 'https://evil.example' }), 401],
    ['expired', signed({ iat: now - 3_600, exp: now - 3_300 }), 401],
    ['half a minute late, as clocks differ', signed({ exp: now - 30 }), 200],
    ['another nonce', signed({ nonce: random() }), 401],
    ['no nonce', signed({ nonce: undefined }), 401],
  ];
  const outcomes: [what: string, status: number][] = [];
  for (const [what, making] of cases) {
    make = making;
    const { status, body } = await redeem(deceived.url, made, `code=x&state=${made.state}`);
    outcomes.push([what, status]);
    if (status === 401) expect(body.error.message).toMatch(/can’t be trusted|expired/);
  }
  expect(outcomes).toEqual(cases.map(([what, , status]) => [what, status]));
  const codes = deceived.log.map((line) => JSON.parse(line).causeCode);
  expect(codes).toEqual(
    expect.arrayContaining(['OAUTH_JWT_CLAIM_COMPARISON_FAILED', 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED']),
  );
  expect(deceived.log.join('')).toContain('SignInsFailed');
});

test('userinfo claims complete the id token, but email and email_verified come from one source', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const published = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
  const [made, now] = [makeState(), Math.floor(Date.now() / 1000)];
  let told: object;
  let further: number | object;
  const server = createServer(async (incoming, response) => {
    if (incoming.url?.endsWith('openid-configuration'))
      return replyJson(response, { ...describeProvider(url), userinfo_endpoint: `${url}/me` });
    if (incoming.url === '/keys') return replyJson(response, { keys: [published] });
    if (incoming.url === '/me' && typeof further === 'number') return response.writeHead(further).end();
    if (incoming.url === '/me') return replyJson(response, { sub: 'ada', ...Object(further) });
    const claims = { iss: url, aud: 'gateway', sub: 'ada', nonce: made.nonce, iat: now, exp: now + 300, ...told };
    const id_token = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey);
    return replyJson(response, { access_token: 'an access token', token_type: 'Bearer', id_token });
  });
  const { url, close } = await listenLocally(server);
  running.defer(close);
  const issuer = { issuer: url, clientId: 'gateway', clientSecret: 's' };
  const only = { OIDC_ALLOW_ALL: 'false' };
  const byGroup = await startWallet(issuer, { ...only, OIDC_ALLOWED_GROUPS: 'engineers' });
  const byDomain = await startWallet(issuer, { ...only, OIDC_ALLOWED_DOMAINS: 'example.com' });
  const verified = { email_verified: true };
  const cases: readonly [told: object, further: number | object, at: TestWallet, outcome: number][] = [
    [{ groups: ['engineers'] }, 404, byGroup, 200],
    [{ groups: ['engineers'] }, 503, byGroup, 200],
    [{ groups: ['guests'] }, 404, byGroup, 403],
    [{ email: 'ada@example.com' }, 404, byDomain, 403],
    // The missing claims might still let them in.
    [{ email: 'ada@example.com' }, 503, byDomain, 503],
    // `email_verified` belongs to the email of the same source.
    [{}, { email: 'ada@example.com', ...verified }, byDomain, 200],
    [{ email: 'ada@example.com' }, { email: 'ada@example.com', ...verified }, byDomain, 200],
    [{ email: 'ada@example.com' }, { email: 'ada@elsewhere.example', ...verified }, byDomain, 403],
    [{ email: 'ada@elsewhere.example' }, { email: 'ada@example.com', ...verified }, byDomain, 200],
    [{ email: 'ada@example.com' }, verified, byDomain, 403],
    [verified, { email: 'ada@example.com' }, byDomain, 403],
  ];
  for (const [claims, answer, at, outcome] of cases) {
    [told, further] = [claims, answer];
    const reply = await redeem(at.url, made, `code=x&state=${made.state}`);
    expect([claims, answer, reply.status]).toEqual([claims, answer, outcome]);
  }
  const warned = { level: 'warn', message: 'claims not read' };
  const parse = ({ log }: TestWallet) => log.map((line) => JSON.parse(line));
  expect(parse(byGroup)).toContainEqual(expect.objectContaining(warned));
  // An alarm is raised only if a needed claim is missing.
  expect(byGroup.log.join('')).not.toContain('SignInsFailed');
  expect(parse(byDomain)).toContainEqual(expect.objectContaining({ ...warned, SignInsFailed: 1 }));
});

test('authenticates with the method that the provider supports, and reports its outages as such', async () => {
  let sent: unknown[] = [];
  const methods = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
  const server = createServer(async (incoming, response) => {
    if (incoming.method === 'GET') replyJson(response, { ...describeProvider(url), ...methods });
    else {
      sent = [incoming.headers.authorization, new URLSearchParams(await text(incoming)).get('client_secret')];
      response.writeHead(503).end();
    }
  });
  const { url, close } = await listenLocally(server);
  running.defer(close);
  const other = await startWallet({ issuer: url, clientId: 'gateway', clientSecret: 'a secret' });
  const made = makeState();
  const { status, body } = await redeem(other.url, made, `code=x&state=${made.state}`);
  expect([status, body.error.message]).toEqual([503, expect.stringMatching(/can’t be reached right now/)]);
  expect(sent).toEqual([undefined, 'a secret']);
});

test('a silent provider times out after ten seconds', async () => {
  const asked: string[] = [];
  const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const server = createServer((incoming, response) => {
    asked.push(`${incoming.method}`);
    if (asked.length === 2) replyJson(response, describeProvider(url));
    else arrived[asked.length === 1 ? 0 : 1]?.resolve();
  });
  const { url, close } = await listenLocally(server);
  running.defer(close);
  running.defer(async () => server.closeAllConnections());
  const other = await startWallet({ issuer: url, clientId: 'gateway' });
  const limits: { readonly milliseconds: number; readonly controller: AbortController }[] = [];
  const timeout = jest.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
    const controller = new AbortController();
    limits.push({ milliseconds, controller });
    return controller.signal;
  });
  running.defer(() => timeout.mockRestore());
  // First the discovery hangs, then the token endpoint.
  for (const { promise } of arrived) {
    const made = makeState();
    const redeemed = redeem(other.url, made, `code=x&state=${made.state}`);
    await promise;
    limits.at(-1)?.controller.abort(new DOMException('', 'TimeoutError'));
    const { status, body } = await redeemed;
    expect([status, body.error.message]).toEqual([503, expect.stringMatching(/can’t be reached right now/)]);
  }
  expect(asked).toEqual(['GET', 'GET', 'POST']);
  expect(limits.map(({ milliseconds }) => milliseconds)).toEqual([10_000, 10_000, 10_000]);
});

test('provider metadata is cached for an hour, and stale metadata is used if a refresh fails', async () => {
  let asked = 0;
  let isUp = true;
  const server = createServer((_, response) => {
    asked += 1;
    if (isUp) replyJson(response, describeProvider(url));
    else response.destroy();
  });
  const { url, close } = await listenLocally(server);
  running.defer(close);
  const other = await startWallet({ issuer: url, clientId: 'gateway' });
  const leave = async () => new URL(await begin(other.url, makeState())).origin;
  expect([await leave(), await leave(), asked]).toEqual([url, url, 1]);
  time += 3_600_000;
  expect([await leave(), asked]).toEqual([url, 2]);
  time += 3_600_000;
  isUp = false;
  expect([await leave(), asked]).toEqual([url, 3]);
});
