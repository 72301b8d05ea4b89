import { expect, test } from '@jest/globals';
import { nameFaults, typoWarnings } from '../../../lambda/settings/variable-names.ts';
import { testRows } from '../../support/test-rows.ts';

testRows<[name: string, nearest: string]>([
  ['UPSTREAM_BASURL', 'UPSTREAM_BASE_URL'],
  ['UPSTREAM_URL', 'UPSTREAM_BASE_URL'],
  ['UPSTREAM_API_KEY', 'UPSTREAM_API_KEYS'],
  ['UPSTREAM_KEY', 'UPSTREAM_API_KEYS'],
  ['UPSTREAM_MODEL', 'UPSTREAM_TEXT_MODEL'],
  ['UPSTREAM_2_API_KEY', 'UPSTREAM_2_API_KEYS'],
  ['UPSTREAM_1_BASE_URL', 'UPSTREAM_BASE_URL'],
  ['UPSTREAM_02_BASE_URL', 'UPSTREAM_BASE_URL'],
  ['GUEST_LIMT', 'GUEST_LIMIT'],
  ['MEMBER_LIMITS', 'MEMBER_LIMIT'],
  ['OIDC_DOMAINS', 'OIDC_ALLOWED_DOMAINS'],
  ['EDGE_HEADRE', 'EDGE_HEADER'],
])('an unknown name with the prefix of a setting is a fault that suggests the nearest setting', (name, nearest) => {
  expect(nameFaults({ [name]: 'x' })).toEqual([`${name} is not a known setting: did you mean ${nearest}?`]);
});

test('known names, unset variables and those of other programs are no faults', () => {
  const known = { UPSTREAM_BASE_URL: 'x', UPSTREAM_12_API_KEYS: 'x', UPSTREAM_NAMES: 'x', GUEST_LIMIT: 'x' };
  const others = { UPSTREAM_BASURL: ' ', PATH: 'x', REQUEST_METHOD: 'GET', MEMBERS: 'x', MY_UPSTREAM_URL: 'x' };
  expect(nameFaults({ ...known, ...others })).toEqual([]);
  const ofKubernetes = ['SERVICE_HOST', 'SERVICE_PORT', 'SERVICE_PORT_HTTP', 'PORT', 'PORT_80_TCP', 'PORT_80_TCP_ADDR'];
  expect(nameFaults(Object.fromEntries(ofKubernetes.map((name) => [`UPSTREAM_${name}`, 'x'])))).toEqual([]);
});

testRows<[name: string, meant?: string]>([
  ['PRICE', 'PRICES'],
  ['ACCSES', 'ACCESS'],
  ['CORS_ORIGNS', 'CORS_ORIGINS'],
  ['SPEND_LIMITS', 'SPEND_LIMIT'],
  ['SERVICE_NANE', 'SERVICE_NAME'],
  ['COLUOR', 'COLOUR'],
  ['COLOUR'],
  ['HOST'],
  ['HOSTNAME'],
  ['SERVICE_NAMES_X'],
  ['npm_config_port'],
  // A fault already.
  ['GUEST_LIMT'],
])('any other name causes a warning if it is one typo away from a setting', (name, meant) => {
  const warning = `${name} is not a setting and has no effect: did you mean ${meant}?`;
  expect(typoWarnings({ [name]: 'x' }, ['COLOUR'])).toEqual(meant === undefined ? [] : [warning]);
});
