import { getToken } from '@aws/bedrock-token-generator';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { Credentials } from '../../../lambda/aws/access.ts';
import { createReadToken } from '../../../lambda/aws/bedrock-token.ts';
import fc from '../../support/properties.ts';

const word = (letters: string, least: number, most: number) =>
  fc.string({ unit: fc.constantFrom(...letters), minLength: least, maxLength: most });
const [lower, digits] = ['abcdefghijklmnopqrstuvwxyz', '0123456789'];

const credentials = fc.record(
  {
    accessKeyId: word(lower.toUpperCase() + digits, 16, 30),
    secretAccessKey: fc.string({ minLength: 1, maxLength: 60 }),
    sessionToken: word(`${lower}${lower.toUpperCase()}${digits}+/=`, 1, 900),
  },
  { requiredKeys: ['accessKeyId', 'secretAccessKey'] },
);
const regions = fc.constantFrom('us-east-1', 'eu-central-1', 'ap-southeast-2', 'us-gov-west-1');
const hour = 3_600_000;

afterEach(() => {
  jest.useRealTimers();
});

test("AWS's own generator makes the same tokens", async () => {
  const times = fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2099, 11) });
  const lives = fc.integer({ min: 1, max: 43_200 });
  const property = fc.asyncProperty(credentials, regions, times, lives, async (known, region, time, life) => {
    jest.useFakeTimers({ now: time, doNotFake: ['nextTick', 'setImmediate', 'setTimeout', 'clearTimeout'] });
    const expected = await getToken({ credentials: known, region, expiresInSeconds: life });
    const expiration = new Date(time + life * 1000);
    const readToken = createReadToken(
      async () => ({ ...known, expiration }),
      () => time,
    );
    expect(await readToken(region)).toBe(expected);
  });
  await fc.assert(property, { numRuns: 100 });
});

/** A reader of tokens whose time and credentials the test sets. */
function start(given: Partial<Credentials> | Error = {}) {
  const world = { now: Date.UTC(2026, 10, 1), credentials: given, reads: 0 };
  const known = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a secret' };
  const provide = async () => {
    world.reads += 1;
    if (world.credentials instanceof Error) throw world.credentials;
    return { ...known, ...world.credentials };
  };
  return { world, readToken: createReadToken(provide, () => world.now) };
}

const lifeOf = (token: string): number => {
  const [, life] = /X-Amz-Expires=(\d+)/.exec(String(Buffer.from(token.slice(16), 'base64'))) ?? [];
  return Number(life) * 1000;
};

describe('a token', () => {
  test('lives for an hour where the credentials tell no end, and is replaced at half of it', async () => {
    const { world, readToken } = start();
    const first = await readToken('us-east-1');
    expect(lifeOf(first)).toBe(hour);
    world.now += hour / 2 - 1;
    expect(await readToken('us-east-1')).toBe(first);
    world.now += 1;
    expect(await readToken('us-east-1')).not.toBe(first);
    expect(world.reads).toBe(2);
  });

  test('never lives longer than the credentials, nor than twelve hours', async () => {
    const { world, readToken } = start();
    world.credentials = { expiration: new Date(world.now + hour / 4 + 999) };
    expect(lifeOf(await readToken('us-east-1'))).toBe(hour / 4);
    world.now += hour / 8;
    world.credentials = { expiration: new Date(world.now + 100 * hour) };
    expect(lifeOf(await readToken('us-east-1'))).toBe(12 * hour);
  });

  test('is not made of credentials that have expired', async () => {
    const { world, readToken } = start();
    world.credentials = { expiration: new Date(world.now) };
    await expect(readToken('us-east-1')).rejects.toThrow('the AWS credentials have expired');
  });

  test('is one for all who ask at once, and one for each region', async () => {
    const { world, readToken } = start();
    const [one, two, other] = await Promise.all(['us-east-1', 'us-east-1', 'eu-west-1'].map((one) => readToken(one)));
    expect([one === two, one === other, world.reads]).toEqual([true, false, 2]);
  });

  test('stays in use to its end if there are no credentials for another', async () => {
    const { world, readToken } = start();
    const token = await readToken('us-east-1');
    world.credentials = new Error('no credentials');
    world.now += hour - 1;
    expect(await readToken('us-east-1')).toBe(token);
    world.now += 1;
    await expect(readToken('us-east-1')).rejects.toThrow('no credentials');
  });

  test('is made anew once for all who were refused with it', async () => {
    const { world, readToken } = start();
    const refused = await readToken('us-east-1');
    world.now += 1000;
    const others = await Promise.all([1, 2, 3].map(() => readToken('us-east-1', refused)));
    expect(new Set(others).size).toBe(1);
    expect(others).not.toContain(refused);
    expect(await readToken('us-east-1', refused)).toBe(others[0]);
    expect(world.reads).toBe(2);
  });
});
