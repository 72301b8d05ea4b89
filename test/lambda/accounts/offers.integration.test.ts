import { expect } from '@jest/globals';
import { startTestWallet } from '../../support/accounts.ts';
import { testRows } from '../../support/test-rows.ts';

const company = {
  ...{ APP_URL: 'https://app.example', OIDC_ISSUER: 'https://login.example', OIDC_CLIENT_ID: 'gateway' },
  OIDC_ALLOW_ALL: 'true',
};
const forWallets = ['challenge', 'link', 'sign-in', 'network'];
const forMembers = ['keys', 'keys/issue', 'keys/revoke', 'device/find', 'device/approve'];
const signInPages = [
  '/cli',
  '/cli/device',
  '/cli/device.js',
  '/cli/login.sh',
  '/cli/oidc/callback',
  '/cli/callback.js',
];
const signInFacts = ['/cli/info', '/.well-known/opencode', '/.well-known/oauth-authorization-server'];

testRows<[environment: Record<string, string>, guests: boolean, ways: readonly string[]]>([
  [{}, true, ['wallet']],
  [{ GUEST_LIMIT: '0' }, false, ['wallet']],
  [{ WALLET_SIGN_IN: 'false' }, true, []],
  [{ ACCESS: 'keys', GUEST_LIMIT: '5' }, false, []],
  [company, true, ['company', 'wallet']],
  [{ ...company, WALLET_SIGN_IN: 'false' }, true, ['company']],
  [{ ...company, ACCESS: 'keys' }, false, ['company']],
])('the pages offer what there is, and nothing else is there', async (environment, guests, ways) => {
  await using wallet = await startTestWallet({ environment });
  const read = async (path: string) => (await fetch(new URL(path, wallet.url))).text();
  for (const [page, needed] of [
    ['/', 'It needs a key in place of <code>YOUR_KEY</code>: '],
    ['/docs', 'Every request needs one: '],
  ] as const) {
    const html = await read(page);
    const source = ways.length > 0 ? '<a href="cli">get one</a>.' : 'ask the operator of this gateway for one.';
    expect([page, html.includes('Any word in place of a key makes you a guest')]).toEqual([page, guests]);
    expect([page, html.includes(needed + source), html.includes(needed)]).toEqual([page, !guests, !guests]);
    expect([page, html.includes('<a href="cli">Get a key</a>')]).toEqual([page, ways.length > 0]);
    if (ways.length === 0) expect(html).not.toMatch(/href="(\.\.\/)?cli"|>\s*Get a key|wallet/i);
    if (!guests) expect(html).not.toContain('Bearer guest');
    const named = [...html.matchAll(/(?:src|href)="([^"#]+)[^"]*"/g)].map(
      ([, path]) => new URL(path ?? '', wallet.url),
    );
    const paths = named.map(({ pathname }) => pathname);
    expect(paths).toEqual(
      expect.arrayContaining(['/docs', '/docs/openapi.json', '/cli/theme.css', '/docs/copy-blocks.js']),
    );
    for (const url of named)
      expect([url.href, (await fetch(url)).status]).toEqual([`${wallet.url}${url.pathname}`, 200]);
  }
  expect(await read('/')).toContain(`authorization: Bearer ${guests ? 'guest' : 'YOUR_KEY'}'`);

  const isThere = ways.length > 0;
  for (const path of [...signInPages, ...signInFacts]) {
    expect([path, (await fetch(wallet.url + path)).status]).toEqual([path, isThere ? 200 : 404]);
  }
  if (isThere) expect(JSON.parse(await read('/cli/info'))).toMatchObject({ signIn: ways });
  else expect(await read('/cli')).toContain('There is nothing here but / and /docs.');
  for (const path of [...forWallets, ...forMembers]) {
    const { status } = await wallet.post(`/cli/${path}`, { address: 'none' });
    const isOffered = forWallets.includes(path) ? ways.includes('wallet') : isThere;
    expect([path, status === 404]).toEqual([path, !isOffered]);
  }
  const begun = await fetch(`${wallet.url}/oauth/device_authorization`, {
    method: 'POST',
    body: new URLSearchParams(),
  });
  expect(begun.status).toBe(isThere ? 400 : 404);
  expect(await wallet.readTables()).toEqual([]);
  expect(wallet.faults).toEqual([]);
});
