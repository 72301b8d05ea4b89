import { here } from './current.ts';

export * from 'node:crypto';

export const randomBytes = (size: number): Buffer => here().randomBytes(size);

export const randomUUID = (): string => {
  const hex = randomBytes(16).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

/** The tokens of many worlds are drawn from it ahead, so it counts on from one to the next. No trace shows them. */
let drawn = 0;

export function randomFillSync(bytes: Buffer): Buffer {
  for (let at = 0; at + 8 <= bytes.length; at += 8) bytes.writeBigUInt64BE(BigInt(drawn++) << 8n, at);
  return bytes;
}
