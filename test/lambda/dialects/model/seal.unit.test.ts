import { describe, expect, test } from '@jest/globals';
import { createSeals, longestSeal } from '../../../../lambda/dialects/model/seal.ts';
import { keyOf } from '../../../../lambda/settings/secrets.ts';
import { createRandom } from '../../../support/random.ts';
import { spoilSeal } from '../../../support/spoil-seal.ts';

const salt = keyOf('a salt of at least 16 characters');
const seals = createSeals(salt, 'network-1');
const reasoningBlock = 'First ✓ weigh it, then 𝒹ecide.';

describe('a seal', () => {
  test.each(['', reasoningBlock, 'long '.repeat(30_000)])('gives back what was sealed (%#)', (content) => {
    const text = seals.seal('responses', content);
    expect(text).toMatch(/^svc1\.[A-Za-z0-9_-]+$/);
    expect(seals.open('responses', text)).toBe(content);
  });

  test('is another one each time, and shows nothing of its content', () => {
    const [first, second] = [seals.seal('responses', reasoningBlock), seals.seal('responses', reasoningBlock)];
    expect(first).not.toBe(second);
    expect(Buffer.from(first.slice(5), 'base64url').includes('weigh')).toBe(false);
  });

  test('has a length that tells no more of its content than 64 bytes do', () => {
    const lengthOf = (content: string) =>
      Buffer.from(seals.seal('responses', content).slice(5), 'base64url').length - 28;
    expect(['', 'x'.repeat(63), 'x'.repeat(64), 'é'.repeat(31), 'é'.repeat(32)].map(lengthOf)).toEqual([
      64, 64, 128, 64, 128,
    ]);
  });

  test.each(['ends in nothing \0', '\0', 'ends in spaces   '])('keeps %j as it is', (content) => {
    expect(seals.open('messages', seals.seal('messages', content))).toBe(content);
  });

  test('opens for its caller, dialect and deployment only', () => {
    const text = seals.seal('responses', reasoningBlock);
    expect(createSeals(salt, 'network-1').open('responses', text)).toBe(reasoningBlock);
    expect(createSeals(salt, 'network-2').open('responses', text)).toBeUndefined();
    expect(createSeals(keyOf('another salt, also long enough'), 'network-1').open('responses', text)).toBeUndefined();
    expect(seals.open('messages', text)).toBeUndefined();
  });

  test.each(['', 'svc1.', 'svc1.AAAA', 'gAAAAABo-another-vendors', `svc2.${'A'.repeat(80)}`, `svc1.${'A'.repeat(80)}`])(
    'of someone else is foreign: %s',
    (text) => expect(seals.open('responses', text)).toBeUndefined(),
  );

  test('that is too long is not looked at', () => {
    const content = 'x'.repeat(longestSeal);
    expect(seals.open('responses', seals.seal('responses', content))).toBeUndefined();
  });

  test('property: of 1,000 changes none is accepted, and none is an error', () => {
    const random = createRandom(Number(process.env.SEED ?? 1));
    const text = seals.seal('messages', reasoningBlock);
    const changes = Array.from({ length: 1_000 }, () => spoilSeal(text, random));
    expect(changes.filter((each) => seals.open('messages', each) !== undefined)).toEqual([]);
  });
});
