import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type IdentityProvider, startIdentityProvider } from '../../../local/demo/identity-provider.ts';
import { bearer, posted, startTestWallet, type TestWallet, testAccount } from '../../support/accounts.ts';
import { callbackUrl, companySettings, makeState, random } from '../../support/identity-provider.ts';
import { testRows } from '../../support/test-rows.ts';

const account = testAccount(1);

const run = promisify(execFile);

let provider: IdentityProvider;
let wallet: TestWallet;
/** Its APP_URL is https://app.example. */
let named: TestWallet;
beforeAll(async () => {
  provider = await startIdentityProvider({ callbackUrl });
  wallet = await startTestWallet();
  named = await startTestWallet({ environment: companySettings(provider) });
});
afterAll(async () => {
  for (const one of [wallet, named]) {
    expect(one.faults).toEqual([]);
    await one[Symbol.asyncDispose]();
  }
  await provider.close();
});

testRows(['/', '/docs', '/cli/app.js', '/cli/info', '/elsewhere'])(
  'a page can’t be framed, read cross-site, or made to load from another site',
  async (path) => {
    const { headers } = await fetch(wallet.url + path, { headers: { origin: wallet.url } });
    const policy = headers.get('content-security-policy') ?? '';
    for (const what of ['default-src', 'base-uri', 'form-action', 'frame-ancestors', 'trusted-types']) {
      expect(policy.split('; ')).toContain(`${what} 'none'`);
    }
    for (const what of ['script-src', 'style-src', 'connect-src']) {
      expect(policy.split('; ')).toContain(`${what} 'self'`);
    }
    expect(policy.split('; ')).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(Object.fromEntries(headers)).toMatchObject({
      ...{ 'x-frame-options': 'DENY', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' },
      ...{ 'cross-origin-opener-policy': 'same-origin', 'cross-origin-resource-policy': 'same-origin' },
    });
    expect(headers.has('access-control-allow-origin')).toBe(false);
  },
);

describe('another site’s page', () => {
  test('is refused, even with a session, and so are the types that a form can send without a preflight', async () => {
    const session = bearer(await wallet.sign(account, 'manage'));
    const before = await wallet.readTables();
    const foreign = { status: 403, body: { error: { code: 'forbidden_origin' } } };
    const noJson = { status: 415, body: { error: { code: 'invalid_request' } } };
    const refused: readonly [headers: Record<string, string>, answer: object][] = [
      [{ origin: 'https://evil.example' }, foreign],
      [{ origin: 'null' }, foreign],
      [{ origin: wallet.url.replace('http:', 'https:') }, foreign],
      [{ origin: `${wallet.url}, ${wallet.url}` }, foreign],
      [{ 'sec-fetch-site': 'cross-site' }, foreign],
      [{ 'sec-fetch-site': 'same-site' }, foreign],
      [{ 'content-type': 'text/plain' }, noJson],
      [{ 'content-type': 'application/x-www-form-urlencoded' }, noJson],
      [{ 'content-type': 'multipart/form-data' }, noJson],
    ];
    for (const path of posted) {
      for (const [headers, answer] of refused) {
        const reply = await wallet.post(`/cli/${path}`, { address: account.address }, { ...session, ...headers });
        expect([path, headers, reply]).toMatchObject([path, headers, answer]);
      }
    }
    expect(await wallet.readTables()).toEqual(before);
    const type = 'application/json; charset=utf-8';
    const own = { origin: wallet.url, 'sec-fetch-site': 'same-origin', 'content-type': type };
    expect((await wallet.post('/cli/challenge', { address: account.address }, own)).status).toBe(200);
  });

  test('can’t read responses, and a preflight allows nothing', async () => {
    const info = await fetch(`${wallet.url}/cli/info`, { headers: { 'sec-fetch-site': 'cross-site' } });
    expect(info.status).toBe(403);
    const response = await fetch(`${wallet.url}/cli/challenge`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([405, null]);
  });
});

/** Sends another Host header, which fetch can't do. */
const ask = async ({ url }: TestWallet, path: string, ...words: string[]) =>
  (await run('curl', ['-s', '-H', 'host: evil.example', ...words, url + path])).stdout;
const sending = (body: object) => ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
const form = ['-d', 'client_id=svc-terminal'];
const metadata = '/.well-known/oauth-authorization-server';

// Whoever calls may write any name into the Host header, and a page of another host may be what they read the answer on.
describe('under another name of the host', () => {
  test('nobody gets a message to sign', async () => {
    const challenge = async (at: TestWallet) =>
      JSON.parse(await ask(at, '/cli/challenge', ...sending({ address: `0x${'a'.repeat(40)}` })));
    const message = expect.stringMatching(/own address first/);
    expect(await challenge(wallet)).toMatchObject({ error: { code: 'not_found', message } });
    expect((await challenge(named)).message).toMatch(/^app\.example wants you/);
  });

  test('without APP_URL there is no device flow', async () => {
    for (const path of ['/cli/device', '/cli/login.sh', metadata, '/.well-known/opencode']) {
      expect(JSON.parse(await ask(wallet, path))).toMatchObject({ error: { code: 'not_found' } });
    }
    for (const path of ['/oauth/device_authorization', '/oauth/token']) {
      const refused = { error: 'invalid_request', error_description: expect.stringMatching(/own address first/) };
      expect(JSON.parse(await ask(wallet, path, ...form))).toEqual(refused);
    }
  });

  test('with APP_URL, the device flow uses it', async () => {
    expect(JSON.parse(await ask(named, metadata))).toEqual({
      issuer: 'https://app.example',
      device_authorization_endpoint: 'https://app.example/oauth/device_authorization',
      token_endpoint: 'https://app.example/oauth/token',
      grant_types_supported: ['urn:ietf:params:oauth:grant-type:device_code'],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['none'],
    });
    const begun = JSON.parse(await ask(named, '/oauth/device_authorization', ...form));
    expect(begun.verification_uri).toBe('https://app.example/cli/device');
    const opencode = JSON.parse(await ask(named, '/.well-known/opencode'));
    expect(opencode.auth).toEqual({
      command: ['sh', '-c', 'curl -fsS https://app.example/cli/login.sh | sh'],
      env: 'SVC_API_KEY',
    });
    expect(JSON.stringify(opencode.config)).toContain('"apiKey":"{env:SVC_API_KEY}"');
    const script = await ask(named, '/cli/login.sh');
    expect(script).toContain("app='https://app.example'");
    expect(script).not.toContain('evil');
    expect(script.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
  });

  test('OIDC sign-in redirects to the provider, and back to APP_URL', async () => {
    const { state, nonce } = makeState();
    const given = { state, nonce, challenge: random(), redirect_uri: 'https://evil.example' };
    const begun = await ask(named, '/cli/oidc/begin?redirect_uri=https://evil.example', ...sending(given));
    const url = new URL(JSON.parse(begun).url);
    expect(url.origin).toBe(provider.issuer);
    expect(url.searchParams.getAll('redirect_uri')).toEqual([callbackUrl]);
    expect(begun).not.toContain('evil');
  });
});
