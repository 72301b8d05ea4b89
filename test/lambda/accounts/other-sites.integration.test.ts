import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { bearer, posted, startTestWallet, type TestWallet, testAccount } from '../../support/accounts.ts';
import { testRows } from '../../support/test-rows.ts';

const account = testAccount(1);

let wallet: TestWallet;
beforeAll(async () => {
  wallet = await startTestWallet();
});
afterAll(async () => {
  expect(wallet.faults).toEqual([]);
  await wallet[Symbol.asyncDispose]();
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
