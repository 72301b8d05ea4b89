import { createSecretKey } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { readCredential } from '../../../lambda/identity/credential.ts';
import {
  callerName,
  createIdentify,
  type IdentifyDependencies,
  type NetworkLink,
} from '../../../lambda/identity/identify.ts';
import { hashKey, type KeyRecord } from '../../../lambda/identity/issued-keys.ts';
import { shareLookups } from '../../../lambda/identity/lookup-cache.ts';
import { createHashMember, memberHash } from '../../../lambda/identity/member.ts';
import { testRows } from '../../support/test-rows.ts';

const day = 86_400_000;
const key = 'ltk_of-alice';
const unknown = 'ltk_unknown';

let time: number;
let keys: Map<string, KeyRecord>;
let links: Map<string, NetworkLink>;
/** The reads that reached the store. */
let reads: string[];

beforeEach(() => {
  time = Date.UTC(2026, 10, 23);
  [keys, links, reads] = [new Map(), new Map(), []];
});

const note = <T>(what: string, found: T): Promise<T> => {
  reads.push(what);
  return Promise.resolve(found);
};
const store: IdentifyDependencies['store'] = {
  findKey: (hash) => note('key', keys.get(hash)),
  findLink: (networkId) => note('link', links.get(networkId)),
  anyKeyIssued: () => note('marker', keys.size > 0),
};

/** The identity of a request with this key, from this network and page. */
function identifier(more: Partial<IdentifyDependencies> = {}) {
  const settings = {
    ...({ access: 'open', guestLimit: 3, cacheTime: 30_000, now: () => time } as const),
    corsOrigins: ['*', 'https://app.example'],
  };
  const identify = createIdentify({ store, ...settings, ...more });
  return (credential?: string, networkId = 'net1', origin?: string, header = 'x-api-key') =>
    identify(readCredential({ [header]: credential }), networkId, origin);
}

const put = (more: Partial<KeyRecord> = {}, text = key) =>
  keys.set(hashKey(text), { id: 'key_1', member: 'alice', createdAt: time, ...more });
const link = (member: string) => links.set('net1', { member, linkedAt: time, expiresAt: time + day });
const invalid = expect.objectContaining({ code: 'invalid_api_key', status: 401 });

test('a caller’s name includes its kind, so that no network has a member’s name', () => {
  expect(callerName({ kind: 'member', member: 'ada', keyId: 'key_1' })).toBe('member ada');
  expect(callerName({ kind: 'guest', networkId: 'ada' })).toBe('network ada');
});

describe('a real key', () => {
  test('identifies its member, from any network and page', async () => {
    put({ models: ['svc'], label: 'laptop', limit: 7 });
    const identify = identifier();
    const own = { keyId: 'key_1', own: { limit: 7 }, models: ['svc'], key: { label: 'laptop' } };
    expect(await identify(key)).toEqual({ kind: 'member', member: 'alice', ...own });
    expect(await identify(key, 'net2', 'https://elsewhere.example')).toMatchObject({ member: 'alice' });
  });

  test('is valid until the moment of its expiry, cached or not', async () => {
    put({ expiresAt: time + 1000 });
    const identify = identifier();
    time += 999;
    await identify(key);
    time += 1;
    await expect(identify(key)).rejects.toEqual(invalid);
    await expect(identifier()(key)).rejects.toEqual(invalid);
  });

  test('is cached for the cache time, and then read again', async () => {
    put();
    const identify = identifier();
    await identify(key);
    put({ revokedAt: time });
    time += 29_999;
    await identify(key);
    expect(reads).toEqual(['key']);
    time += 1;
    await expect(identify(key)).rejects.toEqual(invalid);
    await expect(identify(key)).rejects.toEqual(invalid);
    expect(reads).toEqual(['key', 'key', 'key']);
  });

  test('is cached along with ten thousand others, and the oldest is evicted first', async () => {
    const identify = identifier();
    const nameOf = (number: number) => `${key}${number}`;
    const use = (number: number) => {
      put({}, nameOf(number));
      return identify(nameOf(number));
    };
    for (let number = 0; number <= 10_000; number += 1) await use(number);
    reads = [];
    await use(1);
    expect(reads).toEqual([]);
    await use(0);
    expect(reads).toEqual(['key']);
    // One that was read again is the newest.
    time += 30_000;
    await use(2);
    await use(10_001);
    reads = [];
    await use(2);
    expect(reads).toEqual([]);
  });

  test('is refused as unconfigured until the first key is issued, with a hint on how to get one', async () => {
    const [identify, named] = [identifier(), identifier({ appUrl: 'https://app.example' })];
    await expect(identify(unknown)).rejects.toMatchObject({
      ...{ code: 'unconfigured', status: 503 },
      message:
        'This deployment has not issued any keys yet. Ask the operator for a key, who makes one by `npm run keys -- issue`.',
    });
    put();
    await expect(named(unknown)).rejects.toMatchObject({
      ...{ code: 'invalid_api_key', status: 401 },
      message: 'The API key is unknown, expired or revoked. Get a key at https://app.example/cli.',
    });
    reads = [];
    await expect(named(unknown)).rejects.toEqual(invalid);
    expect(reads).toEqual(['key']);
  });
});

describe('a placeholder', () => {
  test('is the guest of its network, or the member that it is linked to, at once and until the link expires', async () => {
    const identify = identifier();
    expect(await identify('anything')).toEqual({ kind: 'guest', networkId: 'net1' });
    link('alice');
    expect(await identify('anything')).toEqual({ kind: 'member', member: 'alice' });
    expect(await identify('anything', 'net2')).toEqual({ kind: 'guest', networkId: 'net2' });
    time += day - 1;
    expect(await identify('anything')).toEqual({ kind: 'member', member: 'alice' });
    time += 1;
    expect(await identify('anything')).toEqual({ kind: 'guest', networkId: 'net1' });
  });

  test('costs one read, and none while its link is cached', async () => {
    const identify = identifier();
    await identify('anything');
    await identify('anything');
    expect(reads).toEqual(['link', 'link']);
    link('alice');
    await identify('anything');
    // It is looked up again after the cache time, however often it is used.
    time += 29_999;
    link('bob');
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
    link('alice');
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
    link('alice');
    expect(await identify('anything')).toMatchObject({ kind: 'member' });
    await expect(identify('anything', 'net1', 'https://elsewhere.example')).rejects.toEqual(invalid);
  });

  test('is refused with ACCESS=keys even if its network is linked, without reading the link', async () => {
    link('alice');
    const identify = identifier({ access: 'keys', guestLimit: 0 });
    await expect(identify('anything')).rejects.toMatchObject({
      ...{ code: 'invalid_api_key', status: 401 },
      message:
        'Guest access is switched off: a real API key is needed. Ask the operator for a key, who makes one by `npm run keys -- issue`.',
    });
    expect(reads).toEqual([]);
  });
});

test('a key with something before it is refused with what to do, without asking the store', async () => {
  for (const header of ['x-api-key', 'authorization']) {
    await expect(identifier()(`Bearer "ltk_${'a'.repeat(43)}"`, 'net1', undefined, header)).rejects.toMatchObject({
      ...{ status: 401, code: 'invalid_api_key' },
      message: 'Something stands before the API key, such as a quotation mark or a second Bearer. Send the key alone.',
    });
  }
  expect(reads).toEqual([]);
});

test('no key at all, or one without the word Bearer, is refused without asking the store', async () => {
  for (const [guestLimit, advice] of [
    [3, /Guests may send any text\.$/],
    [0, /Ask the operator for a key, who makes one by `npm run keys -- issue`\.$/],
  ] as const) {
    const message = expect.stringMatching(advice);
    await expect(identifier({ guestLimit })()).rejects.toMatchObject({ code: 'missing_api_key', status: 401, message });
  }
  put();
  await expect(identifier()(key, 'net1', undefined, 'authorization')).rejects.toMatchObject({
    ...{ code: 'missing_api_key', status: 401 },
    message:
      'No API key: the Authorization header must have the word Bearer before the key, as in Authorization: Bearer KEY.',
  });
  expect(reads).toEqual([]);
});

describe('shareLookups', () => {
  test('coalesces concurrent lookups, but not later ones', async () => {
    let looks = 0;
    const find = shareLookups(async (name: string) => {
      looks += 1;
      return `${name} ${looks}`;
    });
    expect(await Promise.all([find('a'), find('a'), find('b')])).toEqual(['a 1', 'a 1', 'b 2']);
    expect(await find('a')).toBe('a 3');
  });

  test('does not share a miss, because the record may exist by now', async () => {
    const looks: ((found: string | undefined) => void)[] = [];
    const find = shareLookups((_name: string) => new Promise<string | undefined>((resolve) => looks.push(resolve)));
    const [early, late] = [find('a'), find('a')];
    looks[0]?.(undefined);
    expect(await early).toBeUndefined();
    looks[1]?.('made meanwhile');
    expect(await late).toBe('made meanwhile');
  });

  test('shares a failure', async () => {
    const find = shareLookups(() => Promise.reject(new Error('planted')));
    await expect(Promise.all([find('a'), find('a')])).rejects.toThrow('planted');
  });
});

test('a member’s hash is computed once, and differs from any other member’s', async () => {
  const secret = createSecretKey(Buffer.from('a salt of this test'));
  let reads = 0;
  const hash = createHashMember(async () => {
    reads += 1;
    return secret;
  });
  const hashes = [await hash('one'), await hash('two'), await hash('one')];
  expect(hashes).toEqual(['one', 'two', 'one'].map((member) => memberHash(secret, member)));
  expect([new Set(hashes).size, reads]).toEqual([2, 2]);
});
