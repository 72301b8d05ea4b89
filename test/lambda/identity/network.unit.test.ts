import { describe, expect, test } from '@jest/globals';
import { networkId, networkOf, siteOf } from '../../../lambda/identity/network.ts';
import { keyOf } from '../../../lambda/settings/secrets.ts';
import fc from '../../support/properties.ts';
import { testRows } from '../../support/test-rows.ts';

describe('networkOf', () => {
  testRows([
    ['203.0.113.7', '203.0.113.7'],
    [' 203.0.113.7 ', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9/64', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8::/64'],
    ['2001:0:0:1::', '2001:0:0:1::/64'],
    ['::1', '::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
    // Looks like a mapped address, but is not.
    ['::ffff:0:203.0.113.7', '::/64'],
  ])('an address belongs to its network', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  testRows([
    '',
    'localhost',
    '203.0.113.256',
    '203.0.113.7/64',
    '203.0.113.7:80',
    '203.0.113.7, 198.51.100.1',
    '2001:db8::/48',
    '2001:db8::1/64/64',
    '2001:db8::1::2',
    '[2001:db8::1]',
  ])('anything else is no address', (text) => {
    expect(networkOf(text)).toBeUndefined();
  });

  test('an IPv6 network depends on the first half of the address alone, however it is written', () => {
    const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
    fc.assert(
      fc.property(fc.array(group, { minLength: 12, maxLength: 12 }), (groups) => {
        // The first group keeps it from being a mapped IPv4 address.
        const half = ['2001', ...groups.slice(0, 3).map((value) => value.toString(16))];
        const [one, other] = [groups.slice(4, 8), groups.slice(8, 12)];
        const network = networkOf([...half, ...one.map((value) => value.toString(16))].join(':'));
        const padded = [...half, ...other.map((value) => value.toString(16))].map((text) => text.padStart(4, '0'));
        expect(networkOf(padded.join(':').toUpperCase())).toBe(network);
        expect(networkOf(`${half.join(':')}::`)).toBe(network);
        expect(networkOf(network ?? '')).toBe(network);
      }),
    );
  });
});

describe('networkId', () => {
  test('is the same for the same network and salt, and reveals neither', () => {
    const id = networkId('203.0.113.7', keyOf('a salt of the operator'));
    expect(id).toMatch(/^[\w-]{22}$/);
    expect(networkId('203.0.113.7', keyOf('a salt of the operator'))).toBe(id);
    expect(networkId('203.0.113.8', keyOf('a salt of the operator'))).not.toBe(id);
    expect(networkId('203.0.113.7', keyOf('another operator salt'))).not.toBe(id);
  });
});

testRows([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:db8::/64', '2001:db8::/48'],
  ['::/64', '::/48'],
])('a network is one of those that are listed', (network, site) => {
  expect(siteOf(network)).toBe(site);
});
