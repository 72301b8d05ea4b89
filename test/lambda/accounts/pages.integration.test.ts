import { readdirSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeDeployment } from '../../../lambda/accounts/pages.ts';
import { siteOf } from '../../../lambda/accounts/site.ts';
import { unlimitedMemory } from '../../../lambda/request/memory.ts';
import { readAccountsConfig } from '../../../lambda/settings/config.ts';
import { forMembers, forWallets, posted, startTestWallet, type TestWallet } from '../../support/accounts.ts';
import { incomingRequest } from '../../support/incoming-request.ts';
import { testRows } from '../../support/test-rows.ts';

const folder = new URL('../../../lambda/accounts/pages/', import.meta.url);

let wallet: TestWallet;
beforeAll(async () => {
  wallet = await startTestWallet({ environment: { SERVICE_NAME: 'acme', MEMBER_LIMIT: '70' } });
});
afterAll(async () => {
  expect(wallet.faults).toEqual([]);
  await wallet[Symbol.asyncDispose]();
});

const read = async (path: string, { url }: { readonly url: string } = wallet) => {
  const response = await fetch(url + path);
  expect([path, response.status]).toEqual([path, 200]);
  return response.text();
};

describe('the pages', () => {
  testRows<[page: string, own: RegExp]>([
    ['/cli', /^(?!blocks|device|login\.sh|oidc|callback|index)/],
    [
      '/cli/device',
      /^((api|company|device|element|messages|wallets)\.js|icon\.svg|(theme|controls|content|result)\.css)$/,
    ],
  ])('name every file that they need', async (page, own) => {
    const html = await read(page);
    const links = [...html.matchAll(/<(?:link|script) [^>]*?(?:src|href)="([^"]+)"/g)];
    const named = links.map(([, path = '']) => new URL(path, wallet.url + page).pathname);
    // A module that only another module names would be requested later than necessary.
    const files = readdirSync(new URL('cli/', folder)).filter((name) => own.test(name));
    expect(named.toSorted()).toEqual(files.map((name) => `/cli/${name}`).toSorted());
    const types = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' };
    for (const path of named) {
      const response = await fetch(wallet.url + path);
      const ending = path.split('.').at(-1) as keyof typeof types;
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get('content-type')).toContain(types[ending]);
      expect(await response.text()).toBe(readFileSync(new URL(path.slice(1), folder), 'utf8'));
    }
  });

  test('contain nothing inline, which their policy would refuse, and nothing from other hosts', () => {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!/\.\w+$/.test(name)) continue;
      const text = readFileSync(new URL(name, folder), 'utf8');
      if (name.endsWith('.html')) expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/);
      if (/\.(html|css)$/.test(name)) expect(text).not.toMatch(/\/\/|@import/);
      if (name.endsWith('.js')) expect(text).not.toMatch(/innerHTML|insertAdjacentHTML|document\.write|\beval\b/);
      if (name.endsWith('.js')) expect(text).not.toMatch(/localStorage|document\.cookie/);
      // Only a sign-in that leaves the page has to be remembered, by its tab.
      if (!/(company|callback)\.js$/.test(name)) expect(text).not.toContain('sessionStorage');
    }
  });

  test('are revalidated with ETags, and redirect from a trailing slash', async () => {
    const first = await fetch(`${wallet.url}/cli/app.js`);
    expect(first.headers.get('cache-control')).toBe('no-cache');
    const etag = first.headers.get('etag') ?? '';
    const again = await fetch(`${wallet.url}/cli/app.js`, { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    const slash = await fetch(`${wallet.url}/cli/`, { redirect: 'manual' });
    expect([slash.status, slash.headers.get('location')]).toEqual([308, '../cli']);
  });

  test('are compressed for clients that accept it, and small', async () => {
    const ask = (path: string, accepted: string) =>
      new Promise<{ headers: object; body: Buffer }>((resolve, reject) => {
        get(wallet.url + path, { headers: { 'accept-encoding': accepted } }, async (response) => {
          resolve({ headers: response.headers, body: await buffer(response) });
        }).on('error', reject);
      });
    for (const [path, limit] of [
      ['/', 2_500],
      ['/docs', 12_500],
      ['/docs/site.css', 2_000],
    ] as const) {
      const [plain, gzipped] = [await ask(path, 'gzip;q=0, br'), await ask(path, 'br, gzip')];
      expect(plain.headers).not.toHaveProperty('content-encoding');
      expect(gzipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
      expect(gunzipSync(gzipped.body)).toEqual(plain.body);
      expect(gzipped.body.length).toBeLessThan(limit);
    }
  });

  test('describe this deployment', async () => {
    const html = await read('/');
    for (const fact of [
      `<code>${wallet.url}/v1</code>`,
      ...[
        '<code>acme</code>',
        '<code>acme-vision</code>',
        '<code>acme-embedding</code>',
        '<code>X-Acme-Remaining</code>',
        '<dd>text</dd>',
      ],
      ...['makes you a guest of your network, with 3 requests to try', '70 requests a day'],
      ...[`curl ${wallet.url}/v1/chat/completions`, '&quot;model&quot;: &quot;acme&quot;'],
    ]) {
      expect(html).toContain(fact);
    }
    const text = await read('/docs/openapi.json');
    const { servers, components, paths } = JSON.parse(text);
    expect(servers[0].variables.base.default).toBe(wallet.url);
    expect(components.schemas.PublicModelId.enum).toEqual(['acme', 'acme-vision', 'acme-embedding']);
    expect(paths['/v1/models'].get.responses[200].headers).toHaveProperty('X-Acme-Remaining');
    const info = { serviceName: 'acme', signIn: ['wallet'], gatewayUrl: wallet.url, memberLimit: 70 };
    expect(JSON.parse(await read('/cli/info'))).toEqual({ ...info, network: '127.0.0.1' });
    for (const page of [html, text]) expect(page).not.toMatch(/\{\{|svc/i);
    for (const page of ['/cli', '/cli/device', '/cli/login.sh']) expect(await read(page)).not.toMatch(/\{\{[#^/\w]/);
  });

  test('show the URLs that the operator has set, or else those that were called', async () => {
    const addresses = { GATEWAY_URL: 'https://api.example/<ai>', APP_URL: 'https://app.example' };
    await using other = await startTestWallet({
      environment: { ...addresses, CONTEXT_WINDOW: '262144', GUEST_LIMIT: '1', GUEST_WINDOW: 'daily' },
    });
    const html = await read('/', other);
    expect(html).toContain('<code>https://api.example/%3Cai%3E/v1</code>');
    expect(html).toContain('<dd>text, up to 262,144 tokens</dd>');
    for (const page of ['/', '/docs'])
      expect(await read(page, other)).toContain('guest of your network, with 1 request a day.');
    expect(JSON.parse(await read('/cli/info', other))).toMatchObject({ contextWindow: 262_144 });
    for (const host of ['127.0.0.1', 'localhost', '127.0.0.1']) {
      const url = wallet.url.replace('127.0.0.1', host);
      expect(await read('/', { url })).toContain(`<code>${url}/v1</code>`);
    }
  });
});

const company = {
  ...{ APP_URL: 'https://app.example', OIDC_ISSUER: 'https://login.example', OIDC_CLIENT_ID: 'gateway' },
  OIDC_ALLOW_ALL: 'true',
};
const toSignIn = [
  ...['/cli/device', '/cli/device.js', '/cli/login.sh', '/cli/callback.js'],
  ...['/.well-known/opencode', '/.well-known/oauth-authorization-server'],
];

testRows<[environment: Record<string, string>, guests: boolean, ways: readonly string[], cli: string | undefined]>([
  [{}, true, ['wallet'], 'Get a key'],
  [{ WALLET_SIGN_IN: 'false' }, true, [], undefined],
  [{ ACCESS: 'keys', GUEST_LIMIT: '5' }, false, [], 'Set up a client'],
  [{ ...company, GUEST_LIMIT: '0' }, false, ['company', 'wallet'], 'Get a key'],
  [{ ...company, ACCESS: 'keys' }, false, ['company'], 'Get a key'],
])('the pages offer the enabled features, and nothing else is served', async (environment, guests, ways, cli) => {
  await using offering = await startTestWallet({ environment });
  const canSignIn = ways.length > 0;
  const statusOf = async (path: string) => (await fetch(offering.url + path)).status;
  for (const [page, needed] of [
    ['/', 'It needs a key in place of <code>YOUR_KEY</code>: '],
    ['/docs', 'It needs a key in place of <code>YOUR_KEY</code>: '],
    ...(cli ? [['/cli', undefined] as const] : []),
  ] as const) {
    const html = await read(page, offering);
    if (needed) {
      const source = canSignIn ? '<a href="cli">get one</a>.' : 'ask the operator of this gateway for one.';
      expect([page, html.includes('Any word in place of a key makes you a guest')]).toEqual([page, guests]);
      expect([page, html.includes(needed + source), html.includes(needed)]).toEqual([page, !guests, !guests]);
    }
    const [, label] = /<a href="cli"(?: aria-current="page")?>([^<]+)<\/a>\s*<\/nav>/.exec(html) ?? [];
    expect([page, label]).toEqual([page, cli]);
    if (!canSignIn) expect(html).not.toMatch(/Get a key|wallet|sign(ed)? in|sign-in/i);
    if (!guests) expect(html).not.toContain('Bearer guest');
    const named = [...html.matchAll(/(?:src|href)="([^"#]+)[^"]*"/g)].map(([, path = '']) => path);
    const paths = new Set(named.map((path) => new URL(path, offering.url).pathname));
    expect([...paths]).toEqual(expect.arrayContaining(['/docs', '/cli/theme.css']));
    for (const path of paths) expect([path, await statusOf(path)]).toEqual([path, 200]);
  }
  expect(await read('/', offering)).toContain(`authorization: Bearer ${guests ? 'guest' : 'YOUR_KEY'}'`);

  for (const path of ['/cli', '/cli/info']) expect([path, await statusOf(path)]).toEqual([path, cli ? 200 : 404]);
  if (cli) expect(JSON.parse(await read('/cli/info', offering))).toMatchObject({ signIn: ways });
  if (cli && !canSignIn) expect(await read('/cli', offering)).toContain('The operator of this gateway gives out keys');
  for (const path of toSignIn) expect([path, await statusOf(path)]).toEqual([path, canSignIn ? 200 : 404]);
  expect(await statusOf('/cli/oidc/callback')).toBe(ways.includes('company') ? 200 : 404);
  for (const path of posted) {
    const { status } = await offering.post(`/cli/${path}`, { address: 'none' });
    const isOffered = forWallets.includes(path) ? ways.includes('wallet') : canSignIn;
    expect([path, status === 404]).toEqual([path, !isOffered]);
  }
  const begun = await fetch(`${offering.url}/oauth/device_authorization`, { method: 'POST' });
  expect(begun.status).toBe(canSignIn ? 400 : 404);
  expect(await offering.readTables()).toEqual([]);
  expect(offering.faults).toEqual([]);
});

const optional = {
  embeddings: ['/v1/embeddings', 'acme-embedding', 'EmbeddingsList'],
  compacting: ['/v1/responses/compact', 'CompactedResponse'],
  counts_messages: ['/v1/messages/count_tokens', 'TokenCount'],
  counts_inputs: ['/v1/responses/input_tokens', 'InputTokenCount'],
};

testRows<[missing: readonly (keyof typeof optional)[]]>([
  [[]],
  [['embeddings']],
  [['embeddings', 'compacting', 'counts_messages', 'counts_inputs']],
])('what no upstream can do stands on no page', async (missing) => {
  const environment = { SERVICE_NAME: 'acme', NOT_OFFERED: missing.join(',') };
  await using offering = await startTestWallet({ environment });
  const [first, reference, text] = [
    await read('/', offering),
    await read('/docs', offering),
    await read('/docs/openapi.json', offering),
  ];
  const { paths, components } = JSON.parse(text);
  for (const [feature, [path = '', ...names]] of Object.entries(optional)) {
    const offered = !missing.some((one) => one === feature);
    for (const page of [first, reference]) expect([path, page.includes(`>${path}<`)]).toEqual([path, offered]);
    expect([path, Object.hasOwn(paths, path)]).toEqual([path, offered]);
    for (const name of names) {
      expect([name, new RegExp(`[">;]${name}[<"&]`).test(reference)]).toEqual([name, offered]);
      expect([name, JSON.stringify(components).includes(`"${name}"`)]).toEqual([name, offered]);
    }
  }
  const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name);
  expect(references.filter((name) => !Object.hasOwn(components.schemas, name))).toEqual([]);
  for (const page of [first, reference, text]) expect(page).not.toMatch(/\{\{/);
});

test('a browser that is lost is told where to go, and finds an icon; a program gets JSON', async () => {
  const browser = { accept: 'text/html,*/*;q=0.8' };
  for (const path of ['/cli/nothing', '/docs/nothing.html']) {
    const lost = await fetch(wallet.url + path, { headers: browser });
    expect([lost.status, lost.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(lost.headers.get('content-security-policy')).toMatch(/style-src 'sha256-/);
    expect(lost.headers.get('x-frame-options')).toBe('DENY');
    expect(await lost.text()).toContain('<a href="/cli">Get a key</a>');
    expect((await fetch(wallet.url + path)).headers.get('content-type')).toBe('application/json');
  }
  const icon = await fetch(`${wallet.url}/favicon.ico`);
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  expect(await icon.text()).toBe(readFileSync(new URL('cli/icon.svg', folder), 'utf8'));
});

testRows([
  [true, '127.0.0.1:8787', 'npm run keys -- issue'],
  [true, 'localhost:9000', 'PORT=9000 npm run keys -- issue'],
  [true, 'gateway.example', ''],
  [true, '[::1]:8787', 'npm run keys -- issue'],
  [false, '127.0.0.1:8787', ''],
])('whoever has started the gateway in a terminal is told how to make a key', (onOwnMachine, host, command) => {
  const config = readAccountsConfig({
    KEYS_TABLE: 'keys',
    QUOTA_TABLE: 'quota',
    NETWORK_SALT: 'the salt of the tests',
  });
  expect(describeDeployment(config, siteOf(host, 'http', undefined), onOwnMachine).issue).toBe(command);
});

testRows(['network', ...forMembers])('a session is required', async (path) => {
  for (const authorization of ['', 'Bearer ', `Bearer lts_${'x'.repeat(43)}`, 'Bearer ltk_x']) {
    const { status, headers, body } = await wallet.post(`/cli/${path}`, {}, { authorization });
    expect([status, body.error.code, headers.get('cache-control')]).toEqual([401, 'invalid_session', 'no-store']);
  }
});

test('unknown paths and wrong methods are refused', async () => {
  const missing = await fetch(`${wallet.url}/cli/tsconfig.json`);
  expect(await missing.json()).toMatchObject({ error: { code: 'not_found', type: 'invalid_request_error' } });
  expect(missing.headers.get('x-acme-error')).toBe('not_found');
  expect(missing.headers.get('request-id')).toMatch(/^req_/);
  expect(missing.headers.get('request-id')).toBe(missing.headers.get('x-request-id'));
  const wrong = await fetch(`${wallet.url}/cli/link`);
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
});

test('on any platform, HEAD has no body, and no more of a body is buffered than an input may have, on its network’s account', async () => {
  const asked: unknown[] = [];
  const memory = { ...unlimitedMemory, claim: (network: string) => void asked.push(network) };
  const bodySize = (limit?: number) => {
    asked.push(limit);
    return 65_537;
  };
  const head = await wallet.app(incomingRequest({ method: 'HEAD', path: '/cli', host: 'localhost', memory }));
  expect([head.statusCode, head.body]).toEqual([200, '']);
  const headers = { 'content-type': 'application/json' };
  const sent = { method: 'POST', path: '/cli/link', host: 'localhost', headers, memory, bodySize };
  const post = await wallet.app(incomingRequest(sent));
  expect(post.statusCode).toBe(413);
  expect(asked).toEqual(['203.0.113.9', '203.0.113.9', 65_536]);
});
