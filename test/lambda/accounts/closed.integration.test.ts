import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestWallet, type TestWallet, testAccount } from '../../support/accounts.ts';
import { testRows } from '../../support/test-rows.ts';

let wallet: TestWallet;
beforeAll(async () => {
  wallet = await startTestWallet({ environment: { ACCESS: 'keys', GUEST_LIMIT: '5' } });
});
afterAll(async () => {
  expect(wallet.faults).toEqual([]);
  await wallet[Symbol.asyncDispose]();
});

const nothing = { code: 'not_found', message: 'There is nothing here but / and /docs.' };

testRows(['/cli', '/cli/', '/cli/info'])('with ACCESS=keys there is no page', async (path) => {
  const response = await fetch(wallet.url + path, { redirect: 'manual' });
  expect([response.status, await response.json()]).toEqual([404, { error: expect.objectContaining(nothing) }]);
});

testRows(['challenge', 'link', 'sign-in', 'keys', 'keys/issue', 'keys/revoke', 'network'])(
  'with ACCESS=keys nobody gets anything, and nothing is stored',
  async (path) => {
    const { status, body } = await wallet.post(`/cli/${path}`, { address: testAccount(0).address });
    expect([status, body.error]).toEqual([404, expect.objectContaining(nothing)]);
    expect(await wallet.readTables()).toEqual([]);
  },
);

test('with ACCESS=keys the pages / and /docs stay, with all files that they name', async () => {
  for (const page of ['/', '/docs']) {
    const html = await (await fetch(wallet.url + page)).text();
    expect(html).not.toMatch(/href="(\.\.\/)?cli"|>\s*Get a key/);
    const files = [...html.matchAll(/(?:src|href)="([^"#]+\.\w+)"/g)].map(([, file]) => file ?? '');
    expect(files).toEqual(expect.arrayContaining(['cli/theme.css', 'docs/copy-blocks.js']));
    for (const file of files) {
      const { status } = await fetch(new URL(file, wallet.url));
      expect([file, status]).toEqual([file, 200]);
    }
  }
});

testRows([
  [{ ACCESS: 'keys' }, 'YOUR_KEY'],
  [{ GUEST_LIMIT: '0' }, 'YOUR_KEY'],
  [{}, 'guest'],
])('the first request that the page shows is sent with a key that works', async (environment, key) => {
  await using other = await startTestWallet({ environment });
  const html = await (await fetch(other.url)).text();
  expect(html).toContain(`authorization: Bearer ${key}'`);
});
