import { randomUUID } from 'node:crypto';

/**
 * What marks all copies of one write: five bytes in base64, unlike those of the other writes of the same second. Each byte
 * has seven random bits, for the embedded store compares bytes as the text that they spell. Node keeps random bytes in
 * store for its UUIDs, which begin with more of them than are wanted here.
 */
export function createToken(): string {
  const bytes = Buffer.from(randomUUID().replaceAll('-', '').slice(0, 10), 'hex');
  return Buffer.from(bytes.map((byte) => byte & 0x7f)).toString('base64');
}
