import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { unlimitedMemory } from '../../../lambda/bodies.ts';
import { bearer, startTestWallet, type TestWallet, testAccount } from '../../support/accounts.ts';
import { callWith } from '../../support/call.ts';
import { testRows } from '../../support/test-rows.ts';

const folder = new URL('../../../lambda/accounts/pages/cli/', import.meta.url);
const account = testAccount(1);
const posts = ['challenge', 'link', 'sign-in', 'keys', 'keys/issue', 'keys/revoke', 'network'];

let wallet: TestWallet;
beforeAll(async () => {
  wallet = await startTestWallet();
});
afterAll(async () => {
  expect(wallet.faults).toEqual([]);
  await wallet[Symbol.asyncDispose]();
});

describe('the page', () => {
  test.each([
    ['/cli', 'index.html', /^(?!device|login\.sh|oidc|callback)/],
    [
      ...(['/cli/device', 'device/index.html'] as const),
      /^((api|company|device|element|messages|wallets)\.js|icon\.svg|(theme|controls|content|result)\.css)$/,
    ],
  ])('%s is served with the service’s name, and with every file that it needs', async (page, source, own) => {
    const html = await (await fetch(wallet.url + page)).text();
    const filled = readFileSync(new URL(source, folder), 'utf8')
      .replaceAll('{{service}}', 'svc')
      .replace('{{days}}', '30 days')
      .replaceAll('{{wallet}}', 'yes')
      .replaceAll('{{company}}', '')
      .replace(/\{\{(#company|\^wallet)\}\}.*?\{\{\/\w+\}\}/gs, '')
      .replace(/\{\{[#^/]\w+\}\}/g, '');
    expect(html).toBe(filled);
    const links = [...html.matchAll(/<(?:link|script) [^>]*?(?:src|href)="([^"]+)"/g)];
    const named = links.map(([, path = '']) => new URL(path, wallet.url + page).pathname);
    // A module that only another module names would be requested later than necessary.
    const files = readdirSync(folder).filter((name) => name !== 'index.html' && own.test(name));
    expect(named.toSorted()).toEqual(files.map((name) => `/cli/${name}`).toSorted());
    const types = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' };
    for (const path of named) {
      const response = await fetch(wallet.url + path);
      expect([path, response.status]).toEqual([path, 200]);
      const ending = path.split('.').at(-1) as keyof typeof types;
      expect(response.headers.get('content-type')).toMatch(types[ending]);
      expect(await response.text()).toBe(readFileSync(new URL(path.replace('/cli/', ''), folder), 'utf8'));
    }
  });

  test('contains nothing inline, which its policy would refuse, and nothing from other hosts', () => {
    const pages = new URL('../', folder);
    for (const name of readdirSync(pages, { recursive: true, encoding: 'utf8' })) {
      if (!/\.\w+$/.test(name)) continue;
      const text = readFileSync(new URL(name, pages), 'utf8');
      if (name.endsWith('.html')) expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/);
      if (/\.(html|css)$/.test(name)) expect(text).not.toMatch(/\/\/|@import/);
      if (name.endsWith('.js')) expect(text).not.toMatch(/innerHTML|insertAdjacentHTML|document\.write|\beval\b/);
      if (name.endsWith('.js')) expect(text).not.toMatch(/localStorage|document\.cookie/);
      // Only a sign-in that leaves the page has to be remembered, by its tab.
      if (!/(company|callback)\.js$/.test(name)) expect(text).not.toContain('sessionStorage');
    }
  });

  test('is sent again only if it has changed', async () => {
    const first = await fetch(`${wallet.url}/cli/app.js`);
    const etag = first.headers.get('etag') ?? '';
    const again = await fetch(`${wallet.url}/cli/app.js`, { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
  });

  test('is redirected from a trailing slash', async () => {
    const slash = await fetch(`${wallet.url}/cli/`, { redirect: 'manual' });
    expect([slash.status, slash.headers.get('location')]).toEqual([308, '../cli']);
  });
});

testRows(['/', '/docs', '/docs/openapi.json', '/cli', '/cli/app.js', '/cli/info', '/cli/nothing', '/elsewhere'])(
  'nobody frames it, reads it from another site or makes it load from one',
  async (path) => {
    const { headers } = await fetch(wallet.url + path, { headers: { origin: wallet.url } });
    const policy = headers.get('content-security-policy') ?? '';
    for (const what of ['default-src', 'base-uri', 'form-action', 'frame-ancestors', 'trusted-types']) {
      expect(policy.split('; ')).toContain(`${what} 'none'`);
    }
    for (const what of ['script-src', 'style-src', 'connect-src']) {
      expect(policy.split('; ')).toContain(`${what} 'self'`);
    }
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers.has('access-control-allow-origin')).toBe(false);
  },
);

describe('another site’s page', () => {
  const strangers = (): Record<string, string>[] => [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: wallet.url.replace('http:', 'https:') },
    { origin: `${wallet.url}, ${wallet.url}` },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];

  testRows(posts)('is refused, even with a session', async (path) => {
    const session = bearer(await wallet.sign(account, 'manage'));
    const before = await wallet.readTables();
    for (const stranger of strangers()) {
      const { status, body } = await wallet.post(
        `/cli/${path}`,
        { address: account.address },
        { ...session, ...stranger },
      );
      expect([status, body.error.code]).toEqual([403, 'forbidden_origin']);
    }
    // The types that a form can send without a preflight.
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const { status, body } = await wallet.post(`/cli/${path}`, {}, { ...session, 'content-type': type });
      expect([status, body.error.code]).toEqual([415, 'invalid_request']);
    }
    expect(await wallet.readTables()).toEqual(before);
  });

  test('the page itself is allowed', async () => {
    const type = 'application/json; charset=utf-8';
    const own = { origin: wallet.url, 'sec-fetch-site': 'same-origin', 'content-type': type };
    expect((await wallet.post('/cli/challenge', { address: account.address }, own)).status).toBe(200);
  });

  test('is not told about this one, and a preflight allows nothing', async () => {
    const info = await fetch(`${wallet.url}/cli/info`, { headers: { 'sec-fetch-site': 'cross-site' } });
    expect(info.status).toBe(403);
    const response = await fetch(`${wallet.url}/cli/challenge`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([405, null]);
  });
});

describe('refused requests', () => {
  testRows(['keys', 'keys/issue', 'keys/revoke', 'network', 'device/find', 'device/approve', 'device/deny'])(
    'a post without a session',
    async (path) => {
      for (const authorization of ['', 'Bearer ', `Bearer lts_${'x'.repeat(43)}`, 'Bearer ltk_x']) {
        const { status, body } = await wallet.post(`/cli/${path}`, {}, { authorization });
        expect([status, body.error.code]).toEqual([401, 'invalid_session']);
      }
    },
  );

  test('unknown paths and wrong methods', async () => {
    const missing = await fetch(`${wallet.url}/cli/tsconfig.json`);
    expect(await missing.json()).toMatchObject({ error: { code: 'not_found', type: 'invalid_request_error' } });
    expect(missing.headers.get('x-svc-error')).toBe('not_found');
    expect(missing.headers.get('request-id')).toMatch(/^req_/);
    expect(missing.headers.get('request-id')).toBe(missing.headers.get('x-request-id'));
    const wrong = await fetch(`${wallet.url}/cli/link`);
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await wallet.post('/cli')).status).toBe(405);
  });

  testRows([
    [{}, /address must be a text/],
    [{ address: '0x12' }, /40 hexadecimal/],
    [{ address: account.address, chainId: 0 }, /chainId/],
    [{ address: account.address, chainId: '1' }, /chainId/],
    [{ address: account.address, purpose: 'steal' }, /purpose must be link or manage/],
  ])('a message that can’t be made', async (given, message) => {
    const before = await wallet.readTables();
    const { status, body } = await wallet.post('/cli/challenge', given);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.message).toMatch(message);
    expect(await wallet.readTables()).toEqual(before);
  });
});

test('on any platform a HEAD has no body, and no more of a body is kept than an input may have, for its network', async () => {
  const asked: unknown[] = [];
  const memory = { ...unlimitedMemory, claim: (network: string) => void asked.push(network) };
  const bodySize = (limit?: number) => {
    asked.push(limit);
    return 65_537;
  };
  const head = await wallet.app(callWith({ method: 'HEAD', path: '/cli', host: 'localhost', memory }));
  expect([head.statusCode, head.body]).toEqual([200, '']);
  const headers = { 'content-type': 'application/json' };
  const post = await wallet.app(callWith({ method: 'POST', path: '/cli/link', headers, memory, bodySize }));
  expect(post.statusCode).toBe(413);
  expect(asked).toEqual(['203.0.113.9', '203.0.113.9', 65_536]);
});
