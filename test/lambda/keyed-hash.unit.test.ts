import { createHmac, createSecretKey } from 'node:crypto';
import { test } from '@jest/globals';
import fc from 'fast-check';
import { keyedHash } from '../../lambda/keyed-hash.ts';

test('a keyed hash is what Node’s own HMAC gives, for keys and texts of any length', () => {
  const key = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ minLength: 63, maxLength: 66 }));
  const text = fc.string({ unit: 'grapheme', maxLength: 300 });
  const encoding = fc.constantFrom('hex', 'base64url');
  const property = fc.property(key, fc.array(text, { minLength: 1 }), encoding, (bytes, texts, written) => {
    const secret = createSecretKey(bytes);
    return texts.every(
      (one) => keyedHash(secret, one, written) === createHmac('sha256', bytes).update(one).digest(written),
    );
  });
  fc.assert(property);
});
