import { expect, test } from '@jest/globals';
import { GatewayError } from '../../../lambda/errors.ts';
import {
  cloudFrontHeader,
  locateViewer,
  networkId,
  networkOf,
  originSecretHeader,
  siteOf,
} from '../../../lambda/identity/network.ts';
import { keyOf } from '../../../lambda/settings/secrets.ts';
import fc from '../../support/properties.ts';
import { testRows } from '../../support/test-rows.ts';

testRows([
  ['203.0.113.7', '203.0.113.7'],
  [' 203.0.113.7 ', '203.0.113.7'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9/64', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8::/64'],
  ['2001:0:0:1::', '2001:0:0:1::/64'],
  ['::1', '::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:cb00:7107', '203.0.113.7'],
  // Looks like a mapped address, but is not.
  ['::ffff:0:203.0.113.7', '::/64'],
  ...['', 'localhost', '203.0.113.256', '203.0.113.7/64', '203.0.113.7:80', '203.0.113.7, 198.51.100.1'].map(
    (text) => [text, undefined] as const,
  ),
  ...['2001:db8::/48', '2001:db8::1/64/64', '2001:db8::1::2', '[2001:db8::1]'].map(
    (text) => [text, undefined] as const,
  ),
])('an address belongs to its network, and anything else is refused', (address, network) => {
  expect(networkOf(address)).toBe(network);
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

test('a network’s id is the same for the same network and salt, and reveals neither', () => {
  const id = networkId('203.0.113.7', keyOf('a salt of the operator'));
  expect(id).toMatch(/^[\w-]{22}$/);
  expect(networkId('203.0.113.7', keyOf('a salt of the operator'))).toBe(id);
  expect(networkId('203.0.113.8', keyOf('a salt of the operator'))).not.toBe(id);
  expect(networkId('203.0.113.7', keyOf('another operator salt'))).not.toBe(id);
});

testRows([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['::/64', '::/48'],
])('what one customer may have is a /48', (network, site) => {
  expect(siteOf(network)).toBe(site);
});

const sourceIp = '198.51.100.1';
const secrets = ['the-secret-of-today', 'the-secret-of-yesterday'];
const proof = { [originSecretHeader]: secrets[0] ?? '' };
const noAddress = '500 internal_error no_viewer_address';
const aroundEdge = '404 not_found around_edge';

interface Edge {
  readonly header?: string;
  readonly only?: boolean;
  readonly secrets?: () => Promise<readonly string[]>;
}
type Headers = Readonly<Record<string, string>>;

/** The address, or the reason of the refusal. */
async function locate(edge: Edge, headers: Headers, source = sourceIp) {
  const { header: edgeHeader, only: edgeOnly = true, secrets: edgeSecrets = async () => secrets } = edge;
  try {
    return await locateViewer({ edgeHeader, edgeSecrets, edgeOnly }, headers, source);
  } catch (error) {
    if (error instanceof GatewayError) return `${error.status} ${error.code} ${error.reason}`;
    throw error;
  }
}

test('without a CDN no header is trusted, and an invalid address is refused', async () => {
  const headers = { [cloudFrontHeader]: '203.0.113.7:80', 'x-forwarded-for': '203.0.113.7', [originSecretHeader]: '' };
  expect(await locate({ secrets: () => Promise.reject(new Error('there is none to read')) }, headers)).toBe(sourceIp);
  for (const address of ['', '203.0.113.7:80', '203.0.113']) expect(await locate({}, {}, address)).toBe(noAddress);
});

const other = 'x-real-ip';
const forged = { 'x-forwarded-for': '203.0.113.9', [other]: '203.0.113.9', forwarded: 'for=203.0.113.9' };

testRows<[header: string, value: string | undefined, address: string, also?: Headers]>([
  [cloudFrontHeader, ' 203.0.113.7:1 ', '203.0.113.7'],
  // Both are addresses as a whole, too: the end is a port all the same.
  [cloudFrontHeader, '2001:db8::1:443', '2001:db8::1'],
  [cloudFrontHeader, '2001:db8::a:b:c:d:443', '2001:db8::a:b:c:d'],
  [cloudFrontHeader, '::ffff:203.0.113.7:443', '::ffff:203.0.113.7'],
  [other, '203.0.113.7', '203.0.113.7'],
  [other, '2001:db8::1', '2001:db8::1'],
  // Without an address of the viewer's, the source would be the CDN itself.
  [cloudFrontHeader, '', noAddress],
  [cloudFrontHeader, '203.0.113.7', noAddress],
  [cloudFrontHeader, '203.0.113.7:80,203.0.113.8:80', noAddress],
  [other, '203.0.113.7:80', noAddress],
  // No other header is trusted.
  [cloudFrontHeader, '203.0.113.7:80', '203.0.113.7', forged],
  [cloudFrontHeader, undefined, noAddress, forged],
])('behind a CDN, CloudFront’s header has an address and a port, any other an address', async (...row) => {
  const [header, value, address, also] = row;
  const named = value !== undefined && { [header]: value };
  expect(await locate({ header }, { ...proof, ...also, ...named })).toBe(address);
});

const through = { [other]: '203.0.113.7' };

test('only one of the secrets authenticates the CDN', async () => {
  const prove = (secret: string) => locate({ header: other }, { ...through, [originSecretHeader]: secret });
  for (const secret of secrets) expect(await prove(secret)).toBe('203.0.113.7');
  const others = fc.oneof(
    fc.string(),
    fc.constantFrom('', secrets.join(','), `${secrets[0]} `, secrets[0]?.slice(1) ?? '', 'THE-SECRET-OF-TODAY'),
  );
  await fc.assert(
    fc.asyncProperty(others, async (secret) => {
      fc.pre(!secrets.includes(secret));
      expect(await prove(secret)).toBe(aroundEdge);
    }),
  );
  expect(await locate({ header: other }, through)).toBe(aroundEdge);
  const withoutSecret = { header: other, secrets: async () => [] };
  expect(await locate(withoutSecret, { ...through, [originSecretHeader]: '' })).toBe(aroundEdge);
});

testRows<[headers: Headers, address: string, source?: string]>([
  [{ ...through, ...proof }, '203.0.113.7'],
  [proof, noAddress],
  // A request that bypasses it is identified by its source address, never by the header.
  [{ ...through, [originSecretHeader]: 'no secret' }, sourceIp],
  [through, noAddress, 'nowhere'],
])('with EDGE_ONLY=false, the CDN’s header counts for requests that come through it', async (...row) => {
  const [headers, address, source] = row;
  expect(await locate({ header: other, only: false }, headers, source)).toBe(address);
});
