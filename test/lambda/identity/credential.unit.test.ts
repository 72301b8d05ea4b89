import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { keyHeaderList, keyHeaders, readCredential } from '../../../lambda/identity/credential.ts';
import { testRows } from '../../support/test-rows.ts';

const key = (text: string) => ({ kind: 'key', hash: createHash('sha256').update(text).digest('hex') });
const placeholder = { kind: 'placeholder' };
const none = { kind: 'none' };
const wrapped = { kind: 'wrapped key' };
const whole = `ltk_${'aB3-_'.repeat(8)}abc`;
const notBearer = { kind: 'none', notBearer: true };

testRows<[headers: Record<string, string>, credential: object]>([
  [{}, none],
  [{ 'x-api-key': 'ltk_a' }, key('ltk_a')],
  [{ 'api-key': 'ltk_a' }, key('ltk_a')],
  [{ authorization: 'bearer ltk_a' }, key('ltk_a')],
  [{ authorization: ' BEARER \t ltk_a ' }, key('ltk_a')],
  [{ 'x-api-key': 'ltk_a', 'api-key': 'b', authorization: 'Bearer c' }, key('ltk_a')],
  [{ 'x-api-key': 'a', authorization: 'Bearer ltk_b' }, placeholder],
  [{ 'api-key': 'a', authorization: 'Bearer ltk_b' }, placeholder],
  // Blank values count as absent.
  [{ 'x-api-key': '  ', authorization: 'Bearer ltk_a' }, key('ltk_a')],
  [{ 'x-api-key': '', 'api-key': '', authorization: '' }, none],
  [{ authorization: 'Bearer ' }, none],
  [{ authorization: 'Bearer' }, none],
  // Other schemes, or none.
  [{ authorization: 'Basic bHRrX2E6' }, notBearer],
  [{ authorization: 'ltk_a' }, notBearer],
  [{ authorization: 'Bearerltk_a' }, notBearer],
  // The prefix makes a key.
  [{ 'x-api-key': 'LTK_a' }, placeholder],
  [{ 'x-api-key': 'ltk_' }, key('ltk_')],
  // A whole key is never a placeholder, whatever comes before it.
  [{ authorization: `Bearer "${whole}"` }, wrapped],
  [{ authorization: `Bearer Bearer ${whole}` }, wrapped],
  [{ 'x-api-key': `Bearer ${whole}`, authorization: `Bearer ${whole}` }, wrapped],
  [{ 'api-key': `'${whole}'` }, wrapped],
  [{ authorization: `Bearer ${whole}"` }, key(`${whole}"`)],
  [{ 'x-api-key': 'my ltk_ key' }, placeholder],
])('the first header that is set is the credential', (headers, credential) => {
  expect(readCredential(headers)).toEqual(credential);
});

test('the sentence names every header that a key may come in', () => {
  expect(keyHeaderList).toMatch(/^x-api-key, api-key(, [a-z-]+)* or Authorization: Bearer$/);
  for (const name of keyHeaders) expect(keyHeaderList.toLowerCase()).toContain(name);
});
