import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { afterAll, expect, jest, test } from '@jest/globals';
import { bundleAccounts } from '../../lib/bundle.ts';
import { type ReplyBody, testAccount } from '../support/accounts.ts';
import { startArtifact } from '../support/artifact.ts';

jest.setTimeout(60_000);

const domain = 'abc.lambda-url.eu-central-1.on.aws';
const folder = await mkdtemp(join(tmpdir(), 'wallet-artifact-'));
await bundleAccounts(folder);
const built = { folder, handler: 'index.handler', memorySize: 512, timeoutMs: 30_000 };
const environment = { NETWORK_SALT_SECRET_ID: 'salt', GATEWAY_URL: 'https://gateway.example/' };
const wallet = await startArtifact({ gateway: { ...built, environment } });
afterAll(async () => {
  await wallet[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const invoke = (method: string, path: string, body?: object) =>
  wallet.invoke({
    version: '2.0',
    rawPath: path,
    rawQueryString: '',
    headers: { host: domain, ...(body && { 'content-type': 'application/json' }), origin: `https://${domain}` },
    requestContext: { domainName: domain, http: { method, path, sourceIp: '192.0.2.1' } },
    ...(body && { body: JSON.stringify(body) }),
    isBase64Encoded: false,
  });
const post = async (path: string, body: object) => (await json((await invoke('POST', path, body)).body)) as ReplyBody;

test.each([
  ['/cli', 'text/html', /svc[\s\S]*<\/html>\n$/],
  ['/cli/controls.css', 'text/css', /{[\s\S]*}\n$/],
  ['/cli/app.js', 'text/javascript', /import[\s\S]*;\n$/],
  ['/docs', 'text/html', /<code>https:\/\/gateway\.example\/v1<\/code>[\s\S]*<\/html>\n$/],
])('the deployed files serve the whole of %s', async (path, type, content) => {
  const { statusCode, headers, body } = await invoke('GET', path);
  expect([statusCode, headers['x-frame-options']]).toEqual([200, 'DENY']);
  expect(headers['content-type']).toMatch(type);
  const served = await text(body);
  expect(served).toMatch(content);
  expect(served).not.toMatch(/{{[#^/]?\w+}}/);
});

test('they give a key for a signature that is valid for their own domain', async () => {
  const account = testAccount(1);
  const { message } = await post('/cli/challenge', { address: account.address });
  expect(message).toContain(`${domain} wants you to sign in`);
  expect(message).toContain(`URI: https://${domain}/cli\n`);
  const { key, link } = await post('/cli/link', { message, signature: account.sign(message) });
  expect(key?.key).toMatch(/^ltk_/);
  expect(link.network).toBe('192.0.2.1');
  expect(wallet.secrets.reads).toEqual(['salt']);
  expect(await json((await invoke('GET', '/cli/info')).body)).toMatchObject({ gatewayUrl: 'https://gateway.example' });
});
