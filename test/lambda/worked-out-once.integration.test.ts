import { expect, test } from '@jest/globals';
import { createGateway } from '../../lambda/gateway.ts';
import { readCredential } from '../../lambda/identity/keys.ts';
import { readConfig } from '../../lambda/settings/config.ts';
import { createSecrets } from '../../lambda/settings/secrets.ts';
import { json } from '../../local/upstream/script.ts';
import { callWith } from '../support/call.ts';
import { startTestDynamoDb } from '../support/dynamodb.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { settingsWith } from '../support/gateway.ts';
import { wire } from '../support/wire.ts';

/** Headers that count how often each is read by its name. */
function countReads(headers: Readonly<Record<string, string>>) {
  const reads = new Map<string, number>();
  const counting = new Proxy(headers, {
    get(target, name: string) {
      reads.set(name, (reads.get(name) ?? 0) + 1);
      return target[name];
    },
  });
  return { counting, readsOf: (name: string) => reads.get(name) ?? 0 };
}

test('the key and the encoding of a request are read once', async () => {
  await using started = new AsyncDisposableStack();
  const upstream = started.use(await startFakeUpstream());
  upstream.otherwise(json(200, wire.chat.answer));
  const dynamoDb = await startTestDynamoDb();
  started.defer(dynamoDb.close);
  const app = createGateway(readConfig(settingsWith(upstream, dynamoDb)), {
    ...dynamoDb,
    readSecret: () => Promise.reject(new Error('no secrets here')),
    writeLog: () => {},
    now: Date.now,
  });
  const headers = { 'x-api-key': 'guest', 'content-type': 'application/json', 'content-encoding': 'identity' };
  const once = countReads(headers);
  readCredential(once.counting);
  const { counting, readsOf } = countReads(headers);
  const call = callWith({ headers: counting, body: JSON.stringify(wire.chat.question) });
  const { statusCode } = await app({ ...call, method: 'POST', path: wire.chat.path });
  expect([statusCode, upstream.requests.length]).toEqual([200, 1]);
  expect(readsOf('x-api-key')).toBe(once.readsOf('x-api-key'));
  expect(readsOf('content-encoding')).toBe(1);
});

test('an upstream’s secret is taken apart once for each upstream, until it is read again', async () => {
  let time = 0;
  const secrets = createSecrets(
    { upstreamSecretId: 'id', networkSalt: 'salt', networkSaltSecretId: undefined, edgeSecretId: undefined },
    {
      readSecret: async () =>
        JSON.stringify({
          UPSTREAM_API_KEYS: `a,b${time}`,
          UPSTREAM_HEADERS: { 'x-org': 'o' },
          UPSTREAM_2_API_KEYS: 'c',
        }),
      now: () => time,
      onStale: () => {},
    },
  );
  const [first, second] = readConfig({
    ...{ UPSTREAM_BASE_URL: 'http://one.example', UPSTREAM_TEXT_MODEL: 't', UPSTREAM_VISION_MODEL: 'v' },
    ...{ UPSTREAM_2_BASE_URL: 'http://two.example', UPSTREAM_2_TEXT_MODEL: 't', UPSTREAM_2_VISION_MODEL: 'v' },
    ...{ UPSTREAM_SECRET_ID: 'id', NETWORK_SALT: 'a salt of sixteen', KEYS_TABLE: 'keys', QUOTA_TABLE: 'quota' },
  }).upstreams;
  if (!first || !second) throw new Error('two upstreams were set');
  const access = await secrets.upstreamAccess(first);
  expect(access).toMatchObject({ keys: ['a', 'b0'], secretHeaders: { 'x-org': 'o' } });
  const again = await secrets.upstreamAccess(first);
  expect([again.keys, again.secretHeaders]).toEqual([access.keys, access.secretHeaders]);
  expect(again.keys).toBe(access.keys);
  expect(again.secretHeaders).toBe(access.secretHeaders);
  expect((await secrets.upstreamAccess(second)).keys).toEqual(['c']);
  time = 60_000;
  expect((await secrets.upstreamAccess(first)).keys).toEqual(['a', 'b60000']);
});
