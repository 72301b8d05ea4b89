import { randomUUID } from 'node:crypto';

/** Marks all copies of one write: 64 random bits in base64. They are taken from a UUID, for which Node keeps random bytes ready. */
export function createToken(): string {
  const uuid = randomUUID();
  // The digits in between name the UUID's version and variant.
  return Buffer.from(uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(-4), 'hex').toString('base64');
}

/** Another token, for a write that replaces the one with this token. */
export function nextToken(token: string): string {
  const bytes = Buffer.from(token, 'base64');
  return Buffer.from(bytes.with(-1, ((bytes.at(-1) ?? 0) + 1) & 0xff)).toString('base64');
}

/** The token for something else that concerns the same write: `r` for its refund, `x` for giving it up. */
export function markToken(token: string, mark: 'r' | 'x'): string {
  return Buffer.concat([Buffer.from(token, 'base64'), Buffer.from(mark)]).toString('base64');
}
