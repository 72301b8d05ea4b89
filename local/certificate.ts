import { generateKeyPairSync, sign } from 'node:crypto';

interface Identification {
  readonly key: string;
  readonly cert: string;
}

/** A self-signed certificate for 127.0.0.1 (RFC 5280). Generated, because one in the repository would expire. */
export function makeCertificate(): Identification {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(objectId('550403'), tagged(0x0c, Buffer.from('127.0.0.1')))));
  const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'));
  const address = tagged(0x87, Buffer.from([127, 0, 0, 1]));
  const content = sequence(
    tagged(0xa0, integer(2)), // the third version
    integer(1),
    ecdsaWithSha256,
    name,
    sequence(time('20000101000000Z'), time('21000101000000Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(sequence(objectId('551d11'), tagged(0x04, sequence(address))))),
  );
  const signature = tagged(0x03, Buffer.from([0]), sign('sha256', content, privateKey));
  const base64 = sequence(content, ecdsaWithSha256, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

/** A DER value: tag, length, content. */
function tagged(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(0x30, ...parts);
const set = (...parts: readonly Uint8Array[]): Buffer => tagged(0x31, ...parts);
const integer = (value: number): Buffer => tagged(0x02, Buffer.from([value]));
const objectId = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'));
const time = (text: string): Buffer => tagged(0x18, Buffer.from(text));
