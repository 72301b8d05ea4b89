import { expect } from '@jest/globals';
import { readErrorMessage } from '../../../lambda/dialects/model/answer-members.ts';
import { createScanner } from '../../../lambda/json/scan.ts';
import { testRows } from '../../support/test-rows.ts';

const read = (body: unknown) => readErrorMessage(createScanner().scan(JSON.stringify(body)));

testRows([
  [{ error: { message: 'Too hot' } }],
  [{ type: 'error', error: { type: 'invalid_request_error', message: 'Too hot' } }],
  [{ error: 'Too hot' }],
  [{ message: 'Too hot' }],
  [{ detail: 'Too hot' }],
  [{ detail: [{ msg: 'Too hot' }] }],
  [{ success: false, errors: [{ code: 5006, message: 'Too hot' }, { message: 'Too loud' }] }],
  [[{ error: { code: 400, message: 'Too hot', status: 'INVALID_ARGUMENT' } }]],
])('is found wherever upstreams put it', (body) => {
  expect(read(body)).toBe('Too hot');
});

testRows([
  [['body', 'messages', 0, 'role'], 'messages[0].role: Field required'],
  [['body'], 'Field required'],
  [['body', 3], '[3]: Field required'],
  [['body', 'x'.repeat(300)], `${'x'.repeat(199)}…: Field required`],
  [['bodyless'], 'bodyless: Field required'],
  [[], 'Field required'],
  [null, 'Field required'],
])('of a validator names the place', (loc, expected) => {
  expect(read({ detail: [{ type: 'missing', loc, msg: 'Field required', input: {} }] })).toBe(expected);
});

testRows([
  [{}],
  [[]],
  [[[]]],
  ['x'],
  [{ error: null }],
  [{ error: { code: 1 } }],
  [{ errors: {} }],
  [{ detail: [{ loc: ['a'] }] }],
])('is not found in anything else', (body) => {
  expect(read(body)).toBeUndefined();
});
