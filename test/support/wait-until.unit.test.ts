import { expect, test } from '@jest/globals';
import { waitUntil } from './wait-until.ts';

test('waits until a condition holds', async () => {
  let asked = 0;
  expect(await waitUntil(() => ++asked === 50 && 'found', 'it has been asked fifty times')).toBe('found');
  expect(asked).toBe(50);
});

test('names what never happened', async () => {
  await expect(waitUntil(() => false, 'pigs fly', 10)).rejects.toThrow('Waited 0.01 s in vain until pigs fly.');
});
