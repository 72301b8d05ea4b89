import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { isRunning } from './gateway-file.ts';

const prefix = 'private-inference-gateway-data-';

/** A private folder that is deleted when the process exits. If it was killed, the next call deletes it. */
export function makeTemporaryFolder(parent = tmpdir()) {
  for (const name of readdirSync(parent))
    if (isLeft(join(parent, name))) rmSync(join(parent, name), { recursive: true, force: true });
  const path = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  const remove = () => rmSync(path, { recursive: true, force: true });
  process.once('exit', remove);
  return { path, [Symbol.dispose]: remove };
}

/** Whether the folder is this user's, and its process is gone. */
function isLeft(path: string): boolean {
  const name = basename(path);
  const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
  if (Number.isNaN(pid) || isRunning(pid)) return false;
  // Another process that is starting may have deleted it.
  return lstatSync(path, { throwIfNoEntry: false })?.uid === userInfo().uid;
}
