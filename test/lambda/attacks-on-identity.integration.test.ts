import { createHash } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { createClient } from '../model/client.ts';
import { networkOf } from '../model/rules.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { wire } from '../support/wire.ts';

const { path, question, answer } = wire.chat;
const address = '127.0.0.9';

type Headers = Readonly<Record<string, string | string[]>>;

/** Makes a request from an address and returns the outcome. */
async function ask({ url }: TestGateway, headers: Headers, { from = address, target = path } = {}): Promise<string> {
  const client = createClient(url);
  const method = target.startsWith('/v1/models') ? 'GET' : 'POST';
  const body = method === 'POST' ? JSON.stringify(question) : undefined;
  const answer = await client.send({ method, path: target, headers, body, from });
  client.close();
  return `${answer?.status} ${answer?.headers['x-svc-error'] ?? ''}`.trim();
}

async function start(options: Parameters<typeof startTestGateway>[0] = {}): Promise<TestGateway> {
  const gateway = await startTestGateway(options);
  gateway.upstream.otherwise(json(200, answer));
  return gateway;
}

async function quotaItems({ dynamoDb }: TestGateway): Promise<Record<string, number>> {
  const { Items = [] } = await dynamoDb.client.send(new ScanCommand({ TableName: dynamoDb.quotaTable }));
  const counts = Items.flatMap(({ pk, ...item }) =>
    Object.entries(item).map(([name, { N }]) => [`${pk?.S} ${name}`, Number(N)] as const),
  );
  return Object.fromEntries(counts.filter(([name]) => / u\w+$/.test(name)));
}

describe('a network', () => {
  const forgeries: readonly Headers[] = [
    { 'x-forwarded-for': '203.0.113.7' },
    { 'x-forwarded-for': ['203.0.113.7', '203.0.113.8'] },
    { forwarded: 'for=203.0.113.7;proto=https' },
    { 'x-real-ip': '203.0.113.7' },
    { 'cloudfront-viewer-address': '203.0.113.7:443', 'x-origin-secret': 'guess' },
  ];

  test('is the address of the connection, whatever a header says', async () => {
    await using gateway = await start({ environment: { GUEST_LIMIT: String(forgeries.length) } });
    for (const forgery of forgeries) expect(await ask(gateway, { 'x-api-key': 'x', ...forgery })).toBe('200');
    for (const forgery of forgeries) {
      expect(await ask(gateway, { 'x-api-key': 'x', ...forgery })).toBe('429 quota_exceeded');
    }
    expect(await quotaItems(gateway)).toEqual({ [`guest#${networkOf(address)} ulifetime`]: forgeries.length });
    expect(await ask(gateway, { 'x-api-key': 'x' }, { from: '127.0.0.10' })).toBe('200');
  });

  test('is stored and logged only as a keyed hash', async () => {
    await using gateway = await start();
    const key = await gateway.issueKey();
    await ask(gateway, { 'x-api-key': 'x' });
    await ask(gateway, { 'x-api-key': key });
    await ask(gateway, {}, { target: '/v1/nowhere' });
    const { client, keysTable, quotaTable } = gateway.dynamoDb;
    const scans = [keysTable, quotaTable].map((TableName) => client.send(new ScanCommand({ TableName })));
    const all = JSON.stringify([(await Promise.all(scans)).map(({ Items }) => Items), gateway.log]);
    expect(all).toContain(networkOf(address));
    const plainHash = createHash('sha256').update(address);
    for (const known of [address, key, plainHash.copy().digest('hex').slice(0, 16), plainHash.digest('base64url')]) {
      expect(all).not.toContain(known);
    }
  });
});

describe('a key', () => {
  test('is the whole of one header', async () => {
    await using gateway = await start();
    const key = await gateway.issueKey();
    const invalid = '401 invalid_api_key';
    expect(await ask(gateway, { 'x-api-key': ` ${key} ` })).toBe('200');
    // Twice the same header is one text, and none that was issued.
    expect(await ask(gateway, { 'x-api-key': [key, key] })).toBe(invalid);
    expect(await ask(gateway, { authorization: [`Bearer ${key}`, 'Bearer x'] })).toBe(invalid);
    expect(await ask(gateway, { 'x-api-key': [key, 'x'], authorization: `Bearer ${key}` })).toBe(invalid);
    // Anything that does not begin like a key makes a guest, never the member.
    expect(await ask(gateway, { 'x-api-key': ['x', key] })).toBe('200');
    const day = Math.floor(Date.now() / 86_400_000);
    expect(await quotaItems(gateway)).toEqual({
      [`member#member u${day}`]: 1,
      [`guest#${networkOf(address)} ulifetime`]: 1,
    });
  });

  test('in the query, the path, a cookie or the body does not count', async () => {
    await using gateway = await start();
    const key = await gateway.issueKey();
    const query = `?key=${key}&api_key=${key}&x-api-key=${key}&access_token=${key}`;
    const hidden = { cookie: `x-api-key=${key}`, 'proxy-authorization': `Bearer ${key}`, 'x-goog-api-key': key };
    expect(await ask(gateway, hidden, { target: path + query })).toBe('401 missing_api_key');
    expect(await ask(gateway, { ...hidden, 'api-key': 'x' }, { target: path + query })).toBe('200');
    expect(Object.keys(await quotaItems(gateway))).toEqual([`guest#${networkOf(address)} ulifetime`]);
    expect(gateway.upstream.requests).toHaveLength(1);
    expect(JSON.stringify(gateway.upstream.requests)).not.toContain(key);
  });
});
