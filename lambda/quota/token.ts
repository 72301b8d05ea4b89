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

/** Another token, for a write that takes the place of the one with this. */
export function nextToken(token: string): string {
  const bytes = Buffer.from(token, 'base64');
  return Buffer.from(bytes.with(-1, ((bytes.at(-1) ?? 0) + 1) & 0x7f)).toString('base64');
}
