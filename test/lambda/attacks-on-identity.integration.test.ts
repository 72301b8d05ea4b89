import { createHash } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { createClient, networkOf } from '../support/addressed-client.ts';
import { now } from '../support/clock.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { wire } from '../support/wire.ts';

const { path, question, answer } = wire.chat;

type Headers = Readonly<Record<string, string | string[]>>;

const forgeries: readonly Headers[] = [
  { 'x-forwarded-for': '203.0.113.7' },
  { 'x-forwarded-for': ['203.0.113.7', '203.0.113.8'] },
  { forwarded: 'for=203.0.113.7;proto=https' },
  { 'x-real-ip': '203.0.113.7' },
  { 'cloudfront-viewer-address': '203.0.113.7:443', 'x-origin-secret': 'guess' },
];

let gateway: TestGateway;
/** Each test has its own network. */
let address: string;
let tests = 0;
beforeAll(async () => {
  gateway = await startTestGateway({ environment: { GUEST_LIMIT: String(forgeries.length) } });
  gateway.upstream.otherwise(json(200, answer));
});
beforeEach(() => {
  tests += 1;
  address = `127.0.1.${tests}`;
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** Sends a request from an address and returns the outcome. */
async function ask(headers: Headers, { from = address, target = path } = {}): Promise<string> {
  const client = createClient(gateway.url);
  const method = target.startsWith('/v1/models') ? 'GET' : 'POST';
  const body = method === 'POST' ? JSON.stringify(question) : undefined;
  const answer = await client.send({ method, path: target, headers, body, from });
  client.close();
  return `${answer?.status} ${answer?.headers['x-svc-error'] ?? ''}`.trim();
}

const scan = async (TableName: string) =>
  (await gateway.dynamoDb.client.send(new ScanCommand({ TableName }))).Items ?? [];

/** What this test's network and member have used. */
async function used(): Promise<Record<string, number>> {
  const counts = (await scan(gateway.dynamoDb.quotaTable)).flatMap(({ pk, ...item }) =>
    Object.entries(item).map(([name, { N }]) => [`${pk?.S} ${name}`, Number(N)] as const),
  );
  const own = [`guest#${networkOf(address)} u`, `member#${member()} u`];
  return Object.fromEntries(counts.filter(([name]) => own.some((start) => name.startsWith(start))));
}
const guest = () => `guest#${networkOf(address)} ulifetime`;
const member = () => `member-${tests}`;
const issueKey = () => gateway.issueKey({ member: member() });

test('the network is that of the connection’s address, whatever a header says', async () => {
  for (const forgery of forgeries) expect(await ask({ 'x-api-key': 'x', ...forgery })).toBe('200');
  for (const forgery of forgeries) expect(await ask({ 'x-api-key': 'x', ...forgery })).toBe('429 quota_exceeded');
  expect(await used()).toEqual({ [guest()]: forgeries.length });
  expect(await ask({ 'x-api-key': 'x' }, { from: '127.0.0.10' })).toBe('200');
});

test('a network is stored and logged only as a keyed hash', async () => {
  const key = await issueKey();
  await ask({ 'x-api-key': 'x' });
  await ask({ 'x-api-key': key });
  await ask({}, { target: '/v1/nowhere' });
  const { keysTable, quotaTable } = gateway.dynamoDb;
  const all = JSON.stringify([await scan(keysTable), await scan(quotaTable), gateway.log]);
  expect(all).toContain(networkOf(address));
  const plainHash = createHash('sha256').update(address);
  for (const known of [address, key, plainHash.copy().digest('hex').slice(0, 16), plainHash.digest('base64url')]) {
    expect(all).not.toContain(known);
  }
});

test('a key is the whole of one header', async () => {
  const key = await issueKey();
  const invalid = '401 invalid_api_key';
  expect(await ask({ 'x-api-key': ` ${key} ` })).toBe('200');
  // Two headers of the same name are joined, and so match no issued key.
  expect(await ask({ 'x-api-key': [key, key] })).toBe(invalid);
  expect(await ask({ authorization: [`Bearer ${key}`, 'Bearer x'] })).toBe(invalid);
  expect(await ask({ 'x-api-key': [key, 'x'], authorization: `Bearer ${key}` })).toBe(invalid);
  expect(await ask({ 'x-api-key': ['x', key] })).toBe(invalid);
  // Without a complete key the caller is a guest, never the member.
  expect(await ask({ 'x-api-key': ['x', key.slice(0, -1)] })).toBe('200');
  expect(await used()).toEqual({ [`member#${member()} u${Math.floor(now() / 86_400_000)}`]: 1, [guest()]: 1 });
});

test('a key in the query, the path, a cookie or the body does not count', async () => {
  const key = await issueKey();
  const query = `?key=${key}&api_key=${key}&x-api-key=${key}&access_token=${key}`;
  const hidden = { cookie: `x-api-key=${key}`, 'proxy-authorization': `Bearer ${key}`, 'x-goog-api-key': key };
  const before = gateway.upstream.requests.length;
  expect(await ask(hidden, { target: path + query })).toBe('401 missing_api_key');
  expect(await ask({ ...hidden, 'api-key': 'x' }, { target: path + query })).toBe('200');
  expect(Object.keys(await used())).toEqual([guest()]);
  expect(gateway.upstream.requests).toHaveLength(before + 1);
  expect(JSON.stringify(gateway.upstream.requests)).not.toContain(key);
});
