import { expect, test } from '@jest/globals';
import { GatewayError } from '../../../lambda/errors.ts';
import { cloudFrontHeader, locateViewer, originSecretHeader } from '../../../lambda/identity/network.ts';
import fc from '../../support/properties.ts';
import { testRows } from '../../support/test-rows.ts';

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

/** The address, or the reason of the refusal. */
async function locate(edge: Edge, headers: Readonly<Record<string, string>>, source = sourceIp) {
  const { header: edgeHeader, only: edgeOnly = true, secrets: edgeSecrets = async () => secrets } = edge;
  try {
    return await locateViewer({ edgeHeader, edgeSecrets, edgeOnly }, headers, source);
  } catch (error) {
    if (error instanceof GatewayError) return `${error.status} ${error.code} ${error.reason}`;
    throw error;
  }
}

test('without a CDN no header is believed', async () => {
  const headers = { [cloudFrontHeader]: '203.0.113.7:80', 'x-forwarded-for': '203.0.113.7', [originSecretHeader]: '' };
  expect(await locate({ secrets: () => Promise.reject(new Error('there is none to read')) }, headers)).toBe(sourceIp);
});

testRows(['', 'unknown', '203.0.113.7:80', '203.0.113'])('an address that is none is nobody’s', async (address) => {
  expect(await locate({}, {}, address)).toBe(noAddress);
});

const other = 'x-real-ip';
const forged = { 'x-forwarded-for': '203.0.113.9', [other]: '203.0.113.9', forwarded: 'for=203.0.113.9' };

testRows<[header: string, value: string | undefined, address: string, also?: Readonly<Record<string, string>>]>([
  [cloudFrontHeader, '203.0.113.7:46532', '203.0.113.7'],
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
  [cloudFrontHeader, 'localhost:80', noAddress],
  [other, '203.0.113.7:80', noAddress],
  // No other header is believed.
  [cloudFrontHeader, '203.0.113.7:80', '203.0.113.7', forged],
  [cloudFrontHeader, undefined, noAddress, forged],
])('behind a CDN, CloudFront’s header names address and port, another one an address', async (...row) => {
  const [header, value, address, also] = row;
  expect(await locate({ header }, { ...proof, ...also, ...(value !== undefined && { [header]: value }) })).toBe(
    address,
  );
});

const through = { [other]: '203.0.113.7' };

testRows(secrets)('the proof may be any of the secrets', async (secret) => {
  expect(await locate({ header: other }, { ...through, [originSecretHeader]: secret })).toBe('203.0.113.7');
});

test('the proof is nothing else', async () => {
  const others = fc.oneof(
    fc.string(),
    fc.constantFrom('', secrets.join(','), `${secrets[0]} `, secrets[0]?.slice(1) ?? '', 'THE-SECRET-OF-TODAY'),
  );
  await fc.assert(
    fc.asyncProperty(others, async (secret) => {
      fc.pre(!secrets.includes(secret));
      expect(await locate({ header: other }, { ...through, [originSecretHeader]: secret })).toBe(aroundEdge);
    }),
  );
  expect(await locate({ header: other }, through)).toBe(aroundEdge);
  const withoutSecret = { header: other, secrets: async () => [] };
  expect(await locate(withoutSecret, { ...through, [originSecretHeader]: '' })).toBe(aroundEdge);
});

testRows<[headers: Readonly<Record<string, string>>, address: string, source?: string]>([
  [{ ...through, ...proof }, '203.0.113.7'],
  [proof, noAddress],
  // Who comes around it is who they are, and never whom they claim to be.
  [{ ...through, [originSecretHeader]: '' }, sourceIp],
  [{ ...through, [originSecretHeader]: 'no secret' }, sourceIp],
  [through, noAddress, 'nowhere'],
])('while a CDN is being put in front (EDGE_ONLY=false) it still names those who come through it', async (...row) => {
  const [headers, address, source] = row;
  expect(await locate({ header: other, only: false }, headers, source)).toBe(address);
});
