import { randomUUID } from 'node:crypto';

/**
 * Marks all copies of one write: five bytes in base64, different from those of other writes in the same second. Each byte has
 * only seven random bits, because the embedded store compares bytes as text. They are taken from a UUID, for which Node keeps
 * random bytes ready.
 */
export function createToken(): string {
  const bytes = Buffer.from(randomUUID().replaceAll('-', '').slice(0, 10), 'hex');
  return Buffer.from(bytes.map((byte) => byte & 0x7f)).toString('base64');
}

/** Another token, for a write that replaces the one with this token. */
export function nextToken(token: string): string {
  const bytes = Buffer.from(token, 'base64');
  return Buffer.from(bytes.with(-1, ((bytes.at(-1) ?? 0) + 1) & 0x7f)).toString('base64');
}
