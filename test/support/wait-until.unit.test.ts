import { expect, test } from '@jest/globals';
import { inTime, waitUntil } from './wait-until.ts';

test('waits until a condition holds', async () => {
  let asked = 0;
  expect(await waitUntil(() => ++asked === 50 && 'found', 'it has been asked fifty times')).toBe('found');
  expect(asked).toBe(50);
});

test('names what never happened', async () => {
  const inVain = 'Waited 0.01 s in vain until pigs fly.';
  await expect(waitUntil(() => false, 'pigs fly', 10)).rejects.toThrow(inVain);
  await expect(inTime(new Promise(() => {}), 'pigs fly', 10)).rejects.toThrow(inVain);
});

test('passes on what a promise brings, good or bad', async () => {
  expect(await inTime(Promise.resolve('found'), 'it is found')).toBe('found');
  await expect(inTime(Promise.reject(new Error('lost')), 'it is found')).rejects.toThrow('lost');
});
