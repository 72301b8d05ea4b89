import { describe, expect, test } from '@jest/globals';
import { createCache, shareFindings } from '../../../lambda/identity/identify.ts';

describe('createCache', () => {
  test('remembers for its lifetime', () => {
    let time = 0;
    const cache = createCache<string>(30, 10, () => time);
    cache.set('a', 'one');
    time = 29;
    expect(cache.get('a')).toBe('one');
    time = 30;
    expect(cache.get('a')).toBeUndefined();
    expect(cache.get('b')).toBeUndefined();
  });

  test('remembers nothing with a lifetime of zero', () => {
    const cache = createCache<string>(0, 10, () => 5);
    cache.set('a', 'one');
    expect(cache.get('a')).toBeUndefined();
  });

  test('forgets the oldest first', () => {
    const cache = createCache<number>(30, 3, () => 0);
    for (const [index, name] of ['a', 'b', 'c', 'a', 'd'].entries()) cache.set(name, index);
    expect(['a', 'b', 'c', 'd'].map((name) => cache.get(name))).toEqual([3, undefined, 2, 4]);
  });
});

describe('shareFindings', () => {
  test('asks once for simultaneous look-ups, and again for later ones', async () => {
    let looks = 0;
    const find = shareFindings(async (name: string) => {
      looks += 1;
      return `${name} ${looks}`;
    });
    expect(await Promise.all([find('a'), find('a'), find('b')])).toEqual(['a 1', 'a 1', 'b 2']);
    expect(await find('a')).toBe('a 3');
  });

  test('does not share that nothing was found, because it may exist by now', async () => {
    const looks: ((found: string | undefined) => void)[] = [];
    const find = shareFindings((_name: string) => new Promise<string | undefined>((resolve) => looks.push(resolve)));
    const [early, late] = [find('a'), find('a')];
    looks[0]?.(undefined);
    expect(await early).toBeUndefined();
    looks[1]?.('made meanwhile');
    expect(await late).toBe('made meanwhile');
  });

  test('shares a failure', async () => {
    const find = shareFindings(() => Promise.reject(new Error('planted')));
    await expect(Promise.all([find('a'), find('a')])).rejects.toThrow('planted');
  });
});
