import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type IdentityProvider, startIdentityProvider } from '../../../local/demo/identity-provider.ts';
import { createProbe } from '../../../operator/doctor/probe.ts';
import { checkSignIn } from '../../../operator/doctor/sign-in.ts';
import { startTestWallet } from '../../support/accounts.ts';
import { findFreePort } from '../../support/find-free-port.ts';
import { startMeddlingProxy } from '../../support/meddling-proxy.ts';

let provider: IdentityProvider;
let port: number;
let appUrl: string;
beforeAll(async () => {
  port = await findFreePort();
  appUrl = `http://127.0.0.1:${port}`;
  provider = await startIdentityProvider({ callbackUrl: `${appUrl}/cli/oidc/callback` });
});
afterAll(() => provider.close());

type Variables = Readonly<Record<string, string>>;

/** What is found about signing in, where the pages run with these settings, and cdk.json says so or otherwise. */
async function signInRows(environment: Variables, said: Variables = environment) {
  await using _pages = await startTestWallet({ port, environment: { ...environment, OIDC_CLIENT_SECRET: secret } });
  const { APP_URL = appUrl, OIDC_ISSUER: oidcIssuer } = said;
  const app = createProbe(APP_URL, () => 0);
  const rows: unknown[] = [];
  const checked = checkSignIn({ app, appUrl: APP_URL, oidcIssuer, models: ['svc', 'svc-vision'] });
  for await (const [check, { mark, detail }] of checked) rows.push([check, mark, detail]);
  return rows;
}

let secret = '';
const company = (): Variables => {
  secret = provider.clientSecret;
  const { issuer, clientId } = provider;
  return { APP_URL: appUrl, OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_ALLOWED_DOMAINS: 'example.com' };
};
const [account, client, terminal] = ['with a company account', 'the client’s secret', 'from a terminal'];
const terminalsFine = [terminal, 'ok', 'their endpoints answer'];

test('what works is shown, with the address to register', async () => {
  expect(await signInRows(company())).toEqual([
    [account, 'ok', `at ${new URL(provider.issuer).host}, where ${appUrl}/cli/oidc/callback must be registered`],
    [client, 'ok', 'the provider takes it'],
    terminalsFine,
  ]);
  // Nothing is said about what is not offered.
  expect(await signInRows({ APP_URL: appUrl })).toEqual([terminalsFine]);
  expect(await signInRows({ ACCESS: 'keys', APP_URL: appUrl })).toEqual([]);
});

test('what does not is shown with what to do', async () => {
  const right = company();
  const issuer = `${provider.issuer}/other`;
  const [unknown] = await signInRows({ ...right, OIDC_ISSUER: issuer });
  expect(unknown).toEqual([
    ...[account, 'fail'],
    expect.stringContaining(
      `open ${issuer}/.well-known/openid-configuration and compare its \`issuer\` with OIDC_ISSUER`,
    ),
  ]);
  secret = 'another';
  expect((await signInRows({ ...right }))[1]).toEqual([
    client,
    'fail',
    expect.stringMatching(/OidcClientSecret again/),
  ]);
  const [missing] = await signInRows({ APP_URL: appUrl }, right);
  expect(missing).toEqual([account, 'fail', expect.stringMatching(/^http.*\/cli does not offer it.*deploy/)]);
  expect(await signInRows({}, { APP_URL: appUrl })).toEqual([terminalsFine]); // on one's own machine
});

test('an address that is not the pages’ own, and a proxy that keeps paths to itself, are named', async () => {
  const right = company();
  await using proxy = await startMeddlingProxy(appUrl, {
    status: (status, { path }) => ({ '/oauth/token': 405, '/cli/oidc/redeem': 429 })[path] ?? status,
  });
  const [callback, , sent] = await signInRows(right, { ...right, APP_URL: proxy.url });
  expect(callback).toEqual([account, 'fail', expect.stringContaining(`set APP_URL to ${proxy.url}`)]);
  expect(sent).toEqual([terminal, 'fail', `terminals are sent to ${appUrl}: set APP_URL to ${proxy.url}`]);
  const [, limited, kept] = await signInRows({ ...right, APP_URL: proxy.url });
  expect(limited).toEqual([client, 'untested', expect.stringMatching(/try again in an hour$/)]);
  expect(kept).toEqual([
    terminal,
    'fail',
    expect.stringMatching(/^POST \/oauth\/token answered 405 .* pass on \/oauth/),
  ]);
});
