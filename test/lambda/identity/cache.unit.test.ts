import { describe, expect, test } from '@jest/globals';
import { createCache } from '../../../lambda/identity/cache.ts';

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
