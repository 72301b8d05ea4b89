import { describe, expect, test } from '@jest/globals';
import { addParts, fingerprint, parseMembers, removePart, showMember } from '../../../operator/upstream-key/members.ts';

const first = 'UPSTREAM_API_KEYS';
const all = {
  UPSTREAM_API_KEYS: 'sk-a, sk-b',
  UPSTREAM_2_API_KEYS: 'sk-c',
  UPSTREAM_HEADERS: { 'x-team': 'red', 'x-proof': 's3cret' },
  UPSTREAM_3_HEADERS: '{"x-old": "text"}',
  notes: { of: ['ours'] },
};

describe('adding', () => {
  test.each<[what: string, member: string, input: string, value: unknown, added: readonly string[]]>([
    ['a key', first, 'sk-new\n', 'sk-a,sk-b,sk-new', [fingerprint('sk-new')]],
    [
      'several keys',
      first,
      'sk-x, sk-y\r\nsk-z\n',
      'sk-a,sk-b,sk-x,sk-y,sk-z',
      ['sk-x', 'sk-y', 'sk-z'].map(fingerprint),
    ],
    ['a key beside one that is there', first, 'sk-b\nsk-n', 'sk-a,sk-b,sk-n', [fingerprint('sk-n')]],
    ['the first key of an upstream', 'UPSTREAM_4_API_KEYS', 'sk-d', 'sk-d', [fingerprint('sk-d')]],
    [
      'a header',
      'UPSTREAM_HEADERS',
      '{"X-New": "1"}',
      { 'x-team': 'red', 'x-proof': 's3cret', 'x-new': '1' },
      ['x-new'],
    ],
    [
      'a header that is there',
      'UPSTREAM_HEADERS',
      '{"x-team": "blue"}',
      { 'x-team': 'blue', 'x-proof': 's3cret' },
      ['x-team'],
    ],
    ['to headers in a text', 'UPSTREAM_3_HEADERS', '{"x-new": "1"}', { 'x-old': 'text', 'x-new': '1' }, ['x-new']],
  ])('%s leaves all else as it is', (_what, member, input, value, added) => {
    const { members, outcome } = addParts(all, member, input);
    expect(members).toEqual({ ...all, [member]: value });
    expect(outcome.added).toEqual(added);
  });

  test('what is there already changes nothing', () => {
    expect(addParts(all, first, 'sk-a').members).toBe(all);
    expect(addParts(all, 'UPSTREAM_HEADERS', '{"X-Team": "red"}').members).toBe(all);
  });

  test.each<[what: string, member: string, input: string, said: RegExp]>([
    ['nothing', first, ' \n', /^nothing came on standard input: it takes keys/],
    [
      'a key with a blank, such as a whole header',
      first,
      'Bearer sk-a',
      /^standard input must hold keys, each without blanks/,
    ],
    ['a key that no header can hold', first, 'sk-ä', /^standard input must hold keys/],
    [
      'no headers',
      'UPSTREAM_HEADERS',
      'x-team: red',
      /^standard input must hold a JSON object of header names and values/,
    ],
    ['a header of the connection', 'UPSTREAM_HEADERS', '{"host": "a"}', /^standard input must hold a JSON object/],
  ])('%s is refused, without quoting it', (_what, member, input, said) => {
    expect(() => addParts(all, member, input)).toThrow(said);
  });

  test('to what the gateway can’t read is refused', () => {
    const broken = { ...all, UPSTREAM_2_API_KEYS: ['sk-c'], UPSTREAM_HEADERS: 'x: y' };
    const said = /holds something that the gateway can't read: remove it, then add it anew$/;
    expect(() => addParts(broken, 'UPSTREAM_2_API_KEYS', 'sk-d')).toThrow(said);
    expect(() => addParts(broken, 'UPSTREAM_HEADERS', '{"x-a": "b"}')).toThrow(said);
  });
});

describe('removing', () => {
  test.each<[what: string, member: string, which: string | undefined, value: unknown]>([
    ['one key of several', first, fingerprint('sk-a'), 'sk-b'],
    ['the last key', 'UPSTREAM_2_API_KEYS', undefined, undefined],
    ['the last key by its fingerprint', 'UPSTREAM_2_API_KEYS', fingerprint('sk-c'), undefined],
    ['a header', 'UPSTREAM_HEADERS', 'x-proof', { 'x-team': 'red' }],
    ['what the gateway does not read', 'notes', undefined, undefined],
  ])('%s leaves all else as it is', (_what, member, which, value) => {
    const { [member as 'notes']: _gone, ...others } = all;
    const { members } = removePart(all, member, which);
    expect(members).toEqual(value === undefined ? others : { ...all, [member]: value });
  });

  test.each<[member: string, which: string | undefined, said: string]>([
    [
      'UPSTREAM_9_API_KEYS',
      undefined,
      'there is no list of that name: there is UPSTREAM_API_KEYS, UPSTREAM_2_API_KEYS, UPSTREAM_HEADERS, UPSTREAM_3_HEADERS, notes',
    ],
    [first, undefined, `${first} holds 2 keys: name one of ${fingerprint('sk-a')}, ${fingerprint('sk-b')}`],
    [
      first,
      'abcdef012345',
      `${first} holds none of that name: there is ${fingerprint('sk-a')}, ${fingerprint('sk-b')}`,
    ],
    ['notes', 'of', 'notes holds none of that name: there is none'],
  ])('%s %s is refused', (member, which, said) => {
    expect(() => removePart(all, member, which)).toThrow(said);
  });
});

test('what is shown holds no key and no header’s value', () => {
  const shown = Object.keys(all).map((member) => showMember(all, member));
  expect(shown.map(({ one, parts }) => [one, ...parts])).toEqual([
    ['key', fingerprint('sk-a'), fingerprint('sk-b')],
    ['key', fingerprint('sk-c')],
    ['header', 'x-team', 'x-proof'],
    ['header', 'x-old'],
    [undefined],
  ]);
  expect(fingerprint('sk-a')).toMatch(/^[0-9a-f]{12}$/);
});

test('a secret that is no JSON object is the first upstream’s keys', () => {
  expect(parseMembers('sk-a,sk-b')).toEqual({ UPSTREAM_API_KEYS: 'sk-a,sk-b' });
  expect(parseMembers('{"UPSTREAM_2_API_KEYS": "sk-c"}')).toEqual({ UPSTREAM_2_API_KEYS: 'sk-c' });
});
