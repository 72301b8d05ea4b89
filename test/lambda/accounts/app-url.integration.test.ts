import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type IdentityProvider, startIdentityProvider } from '../../../local/demo/identity-provider.ts';
import { startTestWallet, type TestWallet } from '../../support/accounts.ts';
import { callbackUrl, companySettings, makeState, random } from '../../support/identity-provider.ts';

/* Whoever calls may write any name into the Host header, and a page of another host may be what they read the answer on. */

const run = promisify(execFile);

let provider: IdentityProvider;
let unnamed: TestWallet;
/** Its APP_URL is https://app.example. */
let named: TestWallet;
beforeAll(async () => {
  provider = await startIdentityProvider({ callbackUrl });
  unnamed = await startTestWallet();
  named = await startTestWallet({ environment: companySettings(provider) });
});
afterAll(async () => {
  for (const wallet of [unnamed, named]) {
    expect(wallet.faults).toEqual([]);
    await wallet[Symbol.asyncDispose]();
  }
  await provider.close();
});

/** Sends another Host header, which fetch can't do. */
const ask = async ({ url }: TestWallet, path: string, ...words: string[]) =>
  (await run('curl', ['-s', '-H', 'host: evil.example', ...words, url + path])).stdout;
const sending = (body: object) => ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
const form = ['-d', 'client_id=svc-terminal'];
const metadata = '/.well-known/oauth-authorization-server';

test('a page on another host gets no message to sign', async () => {
  const challenge = async (wallet: TestWallet) =>
    JSON.parse(await ask(wallet, '/cli/challenge', ...sending({ address: `0x${'a'.repeat(40)}` })));
  const message = expect.stringMatching(/own address first/);
  expect(await challenge(unnamed)).toMatchObject({ error: { code: 'not_found', message } });
  expect((await challenge(named)).message).toMatch(/^app\.example wants you/);
});

test('without APP_URL there is no device flow', async () => {
  for (const path of ['/cli/device', '/cli/login.sh', metadata, '/.well-known/opencode']) {
    expect(JSON.parse(await ask(unnamed, path))).toMatchObject({ error: { code: 'not_found' } });
  }
  for (const path of ['/oauth/device_authorization', '/oauth/token']) {
    const refused = { error: 'invalid_request', error_description: expect.stringMatching(/own address first/) };
    expect(JSON.parse(await ask(unnamed, path, ...form))).toEqual(refused);
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
