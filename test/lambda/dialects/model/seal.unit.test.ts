import { describe, expect, test } from '@jest/globals';
import { createSeals, longestSeal } from '../../../../lambda/dialects/model/seal.ts';
import { keyOf } from '../../../../lambda/settings/secrets.ts';
import { createRandom } from '../../../support/random.ts';
import { spoilSeal } from '../../../support/spoil-seal.ts';

const salt = keyOf('a salt of at least 16 characters');
const seals = createSeals(salt, 'network-1');
const reasoning = 'First ✓ weigh it, then 𝒹ecide.';

describe('a seal', () => {
  const contents = ['', reasoning, 'long '.repeat(30_000), 'ends in nothing \0', '\0', 'ends in spaces   '];
  test.each(contents)('opens to what was sealed (%#)', (content) => {
    const text = seals.seal('responses', content);
    expect(text).toMatch(/^svc1\.[A-Za-z0-9_-]+$/);
    expect(seals.open('responses', text)).toBe(content);
  });

  test('differs each time, and does not reveal its content', () => {
    const [first, second] = [seals.seal('responses', reasoning), seals.seal('responses', reasoning)];
    expect(first).not.toBe(second);
    expect(Buffer.from(first.slice(5), 'base64url').includes('weigh')).toBe(false);
  });

  test('reveals the length of its content only in steps of 64 bytes', () => {
    const lengthOf = (content: string) =>
      Buffer.from(seals.seal('responses', content).slice(5), 'base64url').length - 28;
    expect(['', 'x'.repeat(63), 'x'.repeat(64), 'é'.repeat(31), 'é'.repeat(32)].map(lengthOf)).toEqual([
      64, 64, 128, 64, 128,
    ]);
  });

  test('opens for its caller, dialect and deployment only', () => {
    const text = seals.seal('responses', reasoning);
    expect(createSeals(salt, 'network-1').open('responses', text)).toBe(reasoning);
    expect(createSeals(salt, 'network-2').open('responses', text)).toBeUndefined();
    expect(createSeals(keyOf('another salt, also long enough'), 'network-1').open('responses', text)).toBeUndefined();
    expect(seals.open('messages', text)).toBeUndefined();
  });

  test.each(['', 'svc1.', 'svc1.AAAA', 'gAAAAABo-another-vendors', `svc2.${'A'.repeat(80)}`, `svc1.${'A'.repeat(80)}`])(
    'that this gateway did not make does not open: %s',
    (text) => expect(seals.open('responses', text)).toBeUndefined(),
  );

  test('that is too long does not open', () => {
    const content = 'x'.repeat(longestSeal);
    expect(seals.open('responses', seals.seal('responses', content))).toBeUndefined();
  });

  test('property: none of 1,000 modified seals opens, and none throws', () => {
    const random = createRandom(Number(process.env.SEED ?? 1));
    const text = seals.seal('messages', reasoning);
    const changes = Array.from({ length: 1_000 }, () => spoilSeal(text, random));
    expect(changes.filter((each) => seals.open('messages', each) !== undefined)).toEqual([]);
  });
});
