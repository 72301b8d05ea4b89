import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createIdentify, type IdentifyDependencies } from '../../../lambda/identity/identify.ts';
import { issueKey, type KeyRequest, readCredential } from '../../../lambda/identity/keys.ts';
import { createKeyStore, type KeyStore } from '../../../lambda/tables/keys.ts';
import { startTestDynamoDb, type TestDynamoDb } from '../../support/dynamodb.ts';
import { testRows } from '../../support/test-rows.ts';

let database: TestDynamoDb;
let keys: KeyStore;
let time: number;
/** The reads that reached the store. */
let reads: string[];

beforeEach(async () => {
  database = await startTestDynamoDb();
  keys = createKeyStore(database.callDynamoDb, database.keysTable);
  time = Date.UTC(2026, 10, 23);
  reads = [];
});
afterEach(() => database.close());

const day = 86_400_000;

/** The identity of a request with this key, from this network and page. */
function identifier(more: Partial<IdentifyDependencies> = {}) {
  const store: IdentifyDependencies['store'] = {
    findKey: (hash) => {
      reads.push('key');
      return keys.findKey(hash);
    },
    findLink: (networkId) => {
      reads.push('link');
      return keys.findLink(networkId);
    },
    anyKeyIssued: () => {
      reads.push('marker');
      return keys.anyKeyIssued();
    },
  };
  const settings = {
    ...({ access: 'open', guestLimit: 3, cacheTime: 30_000, now: () => time } as const),
    corsOrigins: ['*', 'https://app.example'],
  };
  const identify = createIdentify({ store, ...settings, ...more });
  return (key?: string, networkId = 'net1', origin?: string, header = 'x-api-key') =>
    identify(readCredential({ [header]: key }), networkId, origin);
}

async function newKey(request: Partial<KeyRequest> = {}) {
  return issueKey(keys, { member: 'alice', ...request }, { now: () => time, randomBytes });
}

const link = (member: string) => keys.link('net1', { member, linkedAt: time, expiresAt: time + day });

describe('a real key', () => {
  test('is its member, from any network and page', async () => {
    const { key, record } = await newKey();
    const identify = identifier();
    const identity = { kind: 'member', member: 'alice', keyId: record.id, key: {} };
    expect(await identify(key)).toEqual(identity);
    expect(await identify(key, 'net2', 'https://elsewhere.example')).toEqual(identity);
  });

  test('is valid until the moment of its expiry, remembered or not', async () => {
    const { key } = await newKey({ expiresAt: time + 1000 });
    const identify = identifier();
    time += 999;
    await identify(key);
    time += 1;
    await expect(identify(key)).rejects.toMatchObject({ code: 'invalid_api_key' });
    await expect(identifier()(key)).rejects.toMatchObject({ code: 'invalid_api_key' });
  });

  test('is remembered for the cache time, and read again then', async () => {
    const { key, record } = await newKey();
    const identify = identifier();
    await identify(key);
    await keys.revoke(record.id, time);
    time += 29_999;
    await identify(key);
    expect(reads).toEqual(['key']);
    time += 1;
    await expect(identify(key)).rejects.toMatchObject({ code: 'invalid_api_key' });
    await expect(identify(key)).rejects.toMatchObject({ code: 'invalid_api_key' });
    expect(reads).toEqual(['key', 'key', 'key']);
  });

  test('is refused as unconfigured as long as none was issued, and no longer, with a hint on how to get one', async () => {
    const [identify, named] = [identifier(), identifier({ appUrl: 'https://app.example' })];
    await expect(identify('ltk_unknown')).rejects.toMatchObject({
      ...{ code: 'unconfigured', status: 503 },
      message: 'This deployment has not issued any keys yet. Ask the operator for a key.',
    });
    await newKey();
    await expect(named('ltk_unknown')).rejects.toMatchObject({
      ...{ code: 'invalid_api_key', status: 401 },
      message: 'The API key is unknown, expired or revoked. Get a key at https://app.example/cli.',
    });
    reads = [];
    await expect(named('ltk_unknown')).rejects.toMatchObject({ code: 'invalid_api_key' });
    expect(reads).toEqual(['key']);
  });
});

describe('a placeholder', () => {
  test('is the guest of its network', async () => {
    expect(await identifier()('anything', 'net7')).toEqual({ kind: 'guest', networkId: 'net7' });
  });

  test('is the member that its network is linked to, at once and until the link expires', async () => {
    const identify = identifier();
    await identify('anything');
    await link('alice');
    expect(await identify('anything')).toEqual({ kind: 'member', member: 'alice' });
    expect(await identify('anything', 'net2')).toEqual({ kind: 'guest', networkId: 'net2' });
    time += day - 1;
    expect(await identify('anything')).toEqual({ kind: 'member', member: 'alice' });
    time += 1;
    expect(await identify('anything')).toEqual({ kind: 'guest', networkId: 'net1' });
  });

  test('costs one read, and none while its link is remembered', async () => {
    const identify = identifier();
    await identify('anything');
    await identify('anything');
    expect(reads).toEqual(['link', 'link']);
    await link('alice');
    await identify('anything');
    await identify('anything');
    expect(reads).toEqual(['link', 'link', 'link']);
    // It is looked up again after the cache time, however often it is used.
    time += 29_999;
    await link('bob');
    expect(await identify('anything')).toMatchObject({ member: 'alice' });
    time += 1;
    expect(await identify('anything')).toMatchObject({ member: 'bob' });
    expect(reads).toEqual(['link', 'link', 'link', 'link']);
  });

  testRows([
    ['https://elsewhere.example', 'guest'],
    ['*', 'guest'],
    ['null', 'guest'],
    ['', 'guest'],
    ['https://app.example', 'member'],
    [undefined, 'member'],
  ])('of a page on a linked network', async (origin, kind) => {
    await link('alice');
    const identify = identifier();
    await identify('anything');
    expect(await identify('anything', 'net1', origin)).toMatchObject({ kind });
  });

  test('is refused without guest access, unless its network is linked', async () => {
    const identify = identifier({ guestLimit: 0 });
    await expect(identify('anything')).rejects.toMatchObject({
      ...{ code: 'invalid_api_key', status: 401 },
      message: expect.stringMatching(/^Guest access is switched off: a real API key is needed\. /),
    });
    await link('alice');
    expect(await identify('anything')).toMatchObject({ kind: 'member' });
    const fromPage = identify('anything', 'net1', 'https://elsewhere.example');
    await expect(fromPage).rejects.toMatchObject({ code: 'invalid_api_key' });
  });
});

test('with ACCESS=keys a placeholder is refused, though its network is linked, without a look at the link', async () => {
  await link('alice');
  const identify = identifier({ access: 'keys', guestLimit: 0, appUrl: 'https://app.example' });
  await expect(identify('anything')).rejects.toMatchObject({
    ...{ code: 'invalid_api_key', status: 401 },
    message: 'Guest access is switched off: a real API key is needed. Ask the operator for a key.',
  });
  expect(reads).toEqual([]);
});

test('no key at all, or one without the word Bearer, is refused without asking the store', async () => {
  for (const [guestLimit, advice] of [
    [3, /Guests may send any text\.$/],
    [0, /Ask the operator for a key\.$/],
  ] as const) {
    const message = expect.stringMatching(advice);
    await expect(identifier({ guestLimit })()).rejects.toMatchObject({ code: 'missing_api_key', status: 401, message });
  }
  const { key } = await newKey();
  await expect(identifier()(key, 'net1', undefined, 'authorization')).rejects.toMatchObject({
    ...{ code: 'missing_api_key', status: 401 },
    message:
      'No API key: the Authorization header must have the word Bearer before the key, as in Authorization: Bearer KEY.',
  });
  expect(reads).toEqual([]);
});
