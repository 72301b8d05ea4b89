import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { issueKey, type KeyIssuing } from '../identity/issued-keys.ts';
import type { KeyStore } from './store.ts';

/** Issues a key if none was ever issued. */
export async function issueFirstKey(keys: KeyStore, issuing: KeyIssuing): Promise<string | undefined> {
  if (await keys.anyKeyIssued()) return undefined;
  const request = { member: 'local', label: 'issued at the first start' };
  return (await issueKey(keys, request, issuing)).key;
}

/** Writes the key to a private file instead of output that may end up in a log. Returns the file's path. */
export function keepFirstKey(key: string, folder: string): string {
  const path = join(folder, 'first-key');
  // Whoever could write to the folder before may hold what is there open, or have linked it to another file.
  rmSync(path, { force: true });
  writeFileSync(path, `${key}\n`, { mode: 0o600, flag: 'wx', flush: true });
  return path;
}
