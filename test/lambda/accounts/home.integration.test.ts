import { get } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestWallet, type TestWallet } from '../../support/accounts.ts';

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

describe('the page at /', () => {
  test('describes this deployment', async () => {
    const html = await read('/');
    for (const fact of [
      `<code>${wallet.url}/v1</code>`,
      `<code>${wallet.url}</code>`,
      '<code>acme</code>',
      '<code>acme-vision</code>',
      '<code>X-Acme-Remaining</code>',
      'makes you a guest of your network',
      '70 requests a day',
      `curl ${wallet.url}/v1/chat/completions`,
      '&quot;model&quot;: &quot;acme&quot;',
    ]) {
      expect(html).toContain(fact);
    }
    expect(html).not.toMatch(/\{\{|svc/i);
  });

  test('says how much text the model takes only where the operator has said it', async () => {
    expect(await read('/')).toContain('<dd>text</dd>');
    await using other = await startTestWallet({ environment: { CONTEXT_WINDOW: '262144' } });
    expect(await read('/', other)).toContain('<dd>text, up to 262,144 tokens</dd>');
    expect(JSON.parse(await read('/cli/info', other))).toMatchObject({ contextWindow: 262_144 });
  });

  test('shows the operator’s addresses, and else those that were called', async () => {
    await using other = await startTestWallet({
      environment: { GATEWAY_URL: 'https://api.example/<ai>', APP_URL: 'https://app.example' },
    });
    expect(await read('/', other)).toContain('<code>https://api.example/%3Cai%3E/v1</code>');
    for (const host of ['127.0.0.1', 'localhost', '127.0.0.1']) {
      const url = wallet.url.replace('127.0.0.1', host);
      expect(await read('/', { url })).toContain(`<code>${url}/v1</code>`);
    }
  });
});

test('the document for programs is that of docs/, with the names of the deployment', async () => {
  const document = JSON.parse(await read('/docs/openapi.json'));
  expect(document.servers[0].variables.base.default).toBe(wallet.url);
  expect(document.components.schemas.PublicModelId.enum).toEqual(['acme', 'acme-vision']);
  expect(document.paths['/v1/models'].get.responses[200].headers).toHaveProperty('X-Acme-Remaining');
  expect(JSON.stringify(document)).not.toMatch(/\{\{|svc/i);
});

test('files are compressed for clients that accept it, and small', async () => {
  const ask = (path: string, accepted: string) =>
    new Promise<{ headers: object; body: Buffer }>((resolve, reject) => {
      const headers = { 'accept-encoding': accepted };
      get(wallet.url + path, { headers }, async (response) => {
        resolve({ headers: response.headers, body: await buffer(response) });
      }).on('error', reject);
    });
  for (const [path, limit] of [
    ['/', 2_500],
    ['/docs', 8_000],
    ['/docs/site.css', 2_000],
  ] as const) {
    const [plain, gzipped] = [await ask(path, 'gzip;q=0, br'), await ask(path, 'br, gzip')];
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(gzipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    expect(gunzipSync(gzipped.body)).toEqual(plain.body);
    expect(gzipped.body.length).toBeLessThan(limit);
  }
});
