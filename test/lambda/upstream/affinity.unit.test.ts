import { describe, expect, test } from '@jest/globals';
import { keyOf } from '../../../lambda/settings/secrets.ts';
import { createRankKeys } from '../../../lambda/upstream/pool.ts';
import { testRows } from '../../support/test-rows.ts';

const rankWith = (secret: string) => createRankKeys(async (label) => keyOf(`${secret}/${label}`));
const rank = rankWith('salt');
const keys = ['key-one', 'key-two', 'key-three'];
const conversations = Array.from({ length: 300 }, (_, index) => ({ caller: 'me', traits: [`session ${index}`] }));

const firstOf = async (among: readonly string[], by = rank) =>
  Promise.all(conversations.map(async (conversation) => (await by(among, conversation))[0]));

describe('the keys of an upstream, ranked for a conversation', () => {
  test('are all there, alike each time, in every environment, in whatever order they are given', async () => {
    for (const conversation of conversations.slice(0, 20)) {
      const ranked = await rank(keys, conversation);
      expect([...ranked].sort()).toEqual([...keys].sort());
      expect(await rankWith('salt')(keys.toReversed(), conversation)).toEqual(ranked);
    }
  });

  test('get 25 to 42 % of 300 conversations each', async () => {
    const first = await firstOf(keys);
    for (const key of keys) {
      const share = first.filter((one) => one === key).length / first.length;
      expect(share).toBeGreaterThan(0.25);
      expect(share).toBeLessThan(0.42);
    }
  });

  test('a key that is added takes its share, and moves nothing else', async () => {
    const [before, after] = [await firstOf(keys), await firstOf([...keys, 'key-four'])];
    const moved = after.filter((key, index) => key !== before[index]);
    expect(new Set(moved)).toEqual(new Set(['key-four']));
    expect(moved.length / after.length).toBeGreaterThan(0.15);
    expect(moved.length / after.length).toBeLessThan(0.35);
  });

  test('differ from caller to caller, so that nobody can aim at another’s key', async () => {
    const mine = await firstOf(keys);
    const theirs = await Promise.all(
      conversations.map(async ({ traits }) => (await rank(keys, { caller: 'somebody', traits }))[0]),
    );
    const same = theirs.filter((key, index) => key === mine[index]).length;
    expect(same / theirs.length).toBeLessThan(0.5);
  });

  test('can’t be predicted without the secret', async () => {
    expect(await firstOf(keys, rankWith('another'))).not.toEqual(await firstOf(keys));
  });

  testRows<[parts: string[], others: string[]]>([
    [
      ['', 'ab', 'c'],
      ['', 'a', 'bc'],
    ],
    [
      ['', 'a:b', 'c'],
      ['', 'a', 'b:c'],
    ],
    [
      [':a', 'b'],
      ['', 'a:b'],
    ],
  ])('caller and traits are distinguished however they are divided', async (parts, others) => {
    const rankOf = async (index: number, [caller = '', ...traits]: string[]) =>
      String(await rank(keys, { caller: `${index}${caller}`, traits }));
    const orders = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => (await rankOf(index, parts)) === (await rankOf(index, others))),
    );
    expect(orders).toContain(false);
  });

  test('one key needs no secret', async () => {
    const rankWithout = createRankKeys(() => Promise.reject(new Error('no salt')));
    expect(await rankWithout(['only'], { caller: 'me', traits: [] })).toEqual(['only']);
  });
});
