import { expect, test } from '@jest/globals';
import { loadOnce } from '../../lambda/load-once.ts';

test('what has been read is not read again, and what could not be read is', async () => {
  let reads = 0;
  const load = loadOnce(async () => {
    reads += 1;
    if (reads === 1) throw new Error('planted');
    return reads;
  });
  await expect(Promise.all([load(), load()])).rejects.toThrow('planted');
  expect(await Promise.all([load(), load()])).toEqual([2, 2]);
  expect(await load()).toBe(2);
});
