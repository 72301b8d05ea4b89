import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { keyPlaces, readCredential } from '../../../lambda/identity/keys.ts';
import { testRows } from '../../support/test-rows.ts';

const key = (text: string) => ({ kind: 'key', hash: createHash('sha256').update(text).digest('hex') });
const placeholder = { kind: 'placeholder' };
const none = { kind: 'none' };
const notBearer = { kind: 'none', notBearer: true };

describe('readCredential', () => {
  testRows<[string, Record<string, string | undefined>, object]>([
    ['no header', {}, none],
    ['x-api-key', { 'x-api-key': 'ltk_a' }, key('ltk_a')],
    ['api-key', { 'api-key': 'ltk_a' }, key('ltk_a')],
    ['a bearer', { authorization: 'Bearer ltk_a' }, key('ltk_a')],
    ['a bearer in small letters', { authorization: 'bearer ltk_a' }, key('ltk_a')],
    ['a bearer in capitals, with more space', { authorization: ' BEARER \t ltk_a ' }, key('ltk_a')],
    ['x-api-key before all others', { 'x-api-key': 'ltk_a', 'api-key': 'b', authorization: 'Bearer c' }, key('ltk_a')],
    [
      'a placeholder in x-api-key before a key elsewhere',
      { 'x-api-key': 'a', authorization: 'Bearer ltk_b' },
      placeholder,
    ],
    ['api-key before a bearer', { 'api-key': 'a', authorization: 'Bearer ltk_b' }, placeholder],
    ['a blank x-api-key as absent', { 'x-api-key': '  ', authorization: 'Bearer ltk_a' }, key('ltk_a')],
    ['empty headers as absent', { 'x-api-key': '', 'api-key': '', authorization: '' }, none],
    ['a bearer without a value', { authorization: 'Bearer ' }, none],
    ['the bare word', { authorization: 'Bearer' }, none],
    ['another scheme', { authorization: 'Basic bHRrX2E6' }, notBearer],
    ['no scheme', { authorization: 'ltk_a' }, notBearer],
    ['a scheme that only begins like it', { authorization: 'Bearerltk_a' }, notBearer],
    ['any text as a placeholder', { 'x-api-key': 'guest' }, placeholder],
    ['the prefix in capitals as a placeholder', { 'x-api-key': 'LTK_a' }, placeholder],
    ['the bare prefix as a key', { 'x-api-key': 'ltk_' }, key('ltk_')],
  ])('takes the first that is there', (_, headers, expected) => {
    expect(readCredential(headers)).toEqual(expected);
  });

  test('keeps nothing of a key', () => {
    expect(JSON.stringify(readCredential({ 'x-api-key': 'ltk_secret' }))).not.toContain('secret');
  });
});

test('people are told where a key may go in one sentence', () => {
  expect(keyPlaces).toMatch(/^x-api-key, api-key(, [a-z-]+)* or Authorization: Bearer$/);
});
