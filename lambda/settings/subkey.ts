import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** A text as the key of hashes. Node takes five times as long for a hash whose key is still a text or bytes. */
export const keyOf = (text: string): KeyObject => createSecretKey(Buffer.from(text));

/** Derives a key for one purpose. */
export const subkeyOf = (key: KeyObject, label: string): KeyObject =>
  createSecretKey(createHmac('sha256', key).update(label).digest());
