import { describe, expect, test } from '@jest/globals';
import { GatewayError } from '../../../lambda/errors.ts';
import { cloudFrontHeader, createLocateViewer, originSecretHeader } from '../../../lambda/identity/network.ts';
import fc from '../../support/properties.ts';
import { testRows } from '../../support/test-rows.ts';

const sourceIp = '198.51.100.1';
const secrets = ['the-secret-of-today', 'the-secret-of-yesterday'];
const behind = (edgeHeader: string) =>
  createLocateViewer({ edgeHeader, edgeSecrets: async () => secrets, edgeOnly: true });

/** The address, or the reason of the refusal. */
async function locate(edgeHeader: string, headers: Readonly<Record<string, string>>, proof = secrets[0] ?? '') {
  try {
    return await behind(edgeHeader)({ [originSecretHeader]: proof, ...headers }, sourceIp);
  } catch (error) {
    if (error instanceof GatewayError) return `${error.status} ${error.reason}`;
    throw error;
  }
}

test('without a CDN no header is believed', async () => {
  const edgeSecrets = () => Promise.reject(new Error('there is none to read'));
  const alone = createLocateViewer({ edgeHeader: undefined, edgeSecrets, edgeOnly: true });
  const headers = { [cloudFrontHeader]: '203.0.113.7:80', 'x-forwarded-for': '203.0.113.7', [originSecretHeader]: '' };
  expect(await alone(headers, sourceIp)).toBe(sourceIp);
});

testRows(['', 'unknown', '203.0.113.7:80', '203.0.113'])('an address that is none is nobody’s', async (address) => {
  const alone = createLocateViewer({ edgeHeader: undefined, edgeSecrets: async () => [], edgeOnly: true });
  await expect(alone({}, address)).rejects.toMatchObject({ status: 500, reason: 'no_viewer_address' });
});

describe('behind a CDN', () => {
  testRows([
    ['203.0.113.7:46532', '203.0.113.7'],
    [' 203.0.113.7:1 ', '203.0.113.7'],
    // Both are addresses as a whole, too: the end is a port all the same.
    ['2001:db8::1:443', '2001:db8::1'],
    ['2001:db8::a:b:c:d:443', '2001:db8::a:b:c:d'],
    ['2001:db8:1:2:3:4:5:6:65535', '2001:db8:1:2:3:4:5:6'],
    ['::ffff:203.0.113.7:443', '::ffff:203.0.113.7'],
  ])('CloudFront names address and port', async (value, address) => {
    expect(await locate(cloudFrontHeader, { [cloudFrontHeader]: value })).toBe(address);
  });

  testRows(['203.0.113.7', '2001:db8::1'])('another one names an address', async (value) => {
    expect(await locate('x-real-ip', { 'x-real-ip': value })).toBe(value);
  });

  testRows([
    [cloudFrontHeader, ''],
    [cloudFrontHeader, '203.0.113.7'],
    [cloudFrontHeader, '203.0.113.7:80,203.0.113.8:80'],
    [cloudFrontHeader, 'localhost:80'],
    ['x-real-ip', '203.0.113.7:80'],
    ['x-real-ip', '203.0.113.7, 203.0.113.8'],
    ['x-real-ip', ''],
  ])('a header that is none has no address, and the source would be the CDN itself', async (header, value) => {
    expect(await locate(header, { [header]: value })).toBe('500 no_viewer_address');
  });

  test('no other header is believed', async () => {
    const forged = { 'x-forwarded-for': '203.0.113.9', 'x-real-ip': '203.0.113.9', forwarded: 'for=203.0.113.9' };
    expect(await locate(cloudFrontHeader, { ...forged, [cloudFrontHeader]: '203.0.113.7:80' })).toBe('203.0.113.7');
    expect(await locate(cloudFrontHeader, forged)).toBe('500 no_viewer_address');
  });
});

describe('the proof', () => {
  const headers = { 'x-real-ip': '203.0.113.7' };
  testRows(secrets)('may be any of the secrets', async (proof) => {
    expect(await locate('x-real-ip', headers, proof)).toBe('203.0.113.7');
  });

  test('is nothing else', async () => {
    const others = fc.oneof(
      fc.string(),
      fc.constantFrom('', secrets.join(','), `${secrets[0]} `, secrets[0]?.slice(1) ?? '', 'THE-SECRET-OF-TODAY'),
    );
    await fc.assert(
      fc.asyncProperty(others, async (proof) => {
        fc.pre(!secrets.includes(proof));
        expect(await locate('x-real-ip', headers, proof)).toBe('404 around_edge');
      }),
    );
    await expect(behind('x-real-ip')(headers, sourceIp)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is never given while there is no secret', async () => {
    const none = createLocateViewer({ edgeHeader: 'x-real-ip', edgeSecrets: async () => [], edgeOnly: true });
    await expect(none({ ...headers, [originSecretHeader]: '' }, sourceIp)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('while a CDN is being put in front (EDGE_ONLY=false)', () => {
  const both = createLocateViewer({ edgeHeader: 'x-real-ip', edgeSecrets: async () => secrets, edgeOnly: false });

  test('it still names those who come through it', async () => {
    expect(await both({ 'x-real-ip': '203.0.113.7', [originSecretHeader]: secrets[0] ?? '' }, sourceIp)).toBe(
      '203.0.113.7',
    );
    await expect(both({ [originSecretHeader]: secrets[0] ?? '' }, sourceIp)).rejects.toMatchObject({
      reason: 'no_viewer_address',
    });
  });

  testRows(['', 'no secret'])('who comes around it is who they are, and never whom they claim to be', async (proof) => {
    expect(await both({ 'x-real-ip': '203.0.113.7', [originSecretHeader]: proof }, sourceIp)).toBe(sourceIp);
    await expect(both({ 'x-real-ip': '203.0.113.7' }, 'nowhere')).rejects.toMatchObject({
      reason: 'no_viewer_address',
    });
  });
});
