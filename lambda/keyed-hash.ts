import { hash, type KeyObject } from 'node:crypto';

/** In bytes, as the hashes below take texts and give results. */
const blockSize = 64;
const resultSize = 32;

/** What each key puts before the text, and before what comes of that, for which there is room. */
const known = new WeakMap<KeyObject, ReturnType<typeof prepare>>();

/**
 * HMAC with SHA-256 (RFC 2104), out of Node's plain hashes: the objects that `createHmac` makes are held outside of V8's memory, and
 * two of them make a request on a server 4 % dearer.
 */
export function keyedHash(key: KeyObject, text: string, encoding: 'base64url' | 'hex'): string {
  const { inner, outer } = known.get(key) ?? prepare(key);
  outer.write(hash('sha256', Buffer.concat([inner, Buffer.from(text)]), 'binary'), blockSize, 'binary');
  return hash('sha256', outer, encoding);
}

function prepare(key: KeyObject) {
  const bytes = key.export();
  const block = Buffer.concat([bytes.length > blockSize ? hash('sha256', bytes, 'buffer') : bytes], blockSize);
  const [inner, before] = [0x36, 0x5c].map((pad) => block.map((byte) => byte ^ pad)) as [Buffer, Buffer];
  const prepared = { inner, outer: Buffer.concat([before], blockSize + resultSize) };
  known.set(key, prepared);
  return prepared;
}
