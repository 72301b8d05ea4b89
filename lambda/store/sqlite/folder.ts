import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';

/** Why a folder can't be used, in a sentence for the operator. */
export class FolderError extends Error {
  override readonly name = 'FolderError';
}

/** Linux's magic numbers of network file systems: NFS, SMB, CIFS, 9P, AFS, Ceph, Coda. */
const shared = new Set([0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x01021997, 0x5346414f, 0x00c36400, 0x73757245]);

/**
 * Makes the folder and the database file accessible to this user only. `creates`: whether to create them where missing. `wasOpen`:
 * whether the folder was accessible to others, which has been corrected.
 */
export function prepareFolder(folder: string, creates: boolean): { readonly path: string; readonly wasOpen: boolean } {
  try {
    return prepare(folder, creates);
  } catch (error) {
    throw Error.isError(error) && 'code' in error ? new FolderError(error.message) : error;
  }
}

function prepare(folder: string, creates: boolean) {
  const path = join(folder, 'gateway.db');
  if (creates) makeFolders(folder);
  // Otherwise a mistyped path would pass for a gateway without keys.
  else if (!existsSync(path)) {
    throw new FolderError(
      'no gateway has used it yet: correct the path, or issue a key or start the gateway with it first',
    );
  }
  const found = statSync(folder);
  if (!found.isDirectory()) throw new FolderError('it is a file: name a folder');
  refuseOwner(found.uid);
  if (existsSync(join(folder, 'dynamodb')) && !existsSync(path)) {
    throw new FolderError(
      'it holds the tables of an earlier version, which this one cannot read: name a new folder, and issue keys anew',
    );
  }
  if (process.platform === 'linux') refuseShared(statfsSync(folder).type);
  if (isOpen(found) && !existsSync(path) && readdirSync(folder).length > 0) {
    throw new FolderError(
      'it holds other files and is open to other users, who would lose them: name a folder that holds nothing else',
    );
  }
  const wasOpen = closeToOthers(folder, 0o700);
  // SQLite gives the WAL the same mode. An existing file must not be opened here: closing it would drop this process's locks on it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  refuseOwner(statSync(path).uid);
  // SQLite would open a read-only file, and fail only at the first write.
  for (const needed of [folder, path]) accessSync(needed, constants.R_OK | constants.W_OK);
  closeToOthers(path, 0o600);
  return { path, wasOpen };
}

/** Locks are unreliable over a network, so two machines might write at once. */
export function refuseShared(type: number): void {
  if (!shared.has(type)) return;
  throw new FolderError(
    'it is on a file system that machines share, where locks may not hold: name a folder on a disk of this machine',
  );
}

/** The owner could add keys and read counters. Root may use what is not its own: operators' commands on a service's folder. */
export function refuseOwner(owner: number, user = userInfo().uid): void {
  if (owner === user || owner === 0 || user === 0) return;
  throw new FolderError('it belongs to another user of this machine: name a folder of your own');
}

/** Like `mkdirSync` with `recursive`, which loops forever in /proc, where nobody can create a folder. */
function makeFolders(path: string): void {
  if (existsSync(path)) return;
  makeFolders(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/** Returns whether it was accessible to others. */
function closeToOthers(path: string, mode: number): boolean {
  const stats = statSync(path);
  if (!isOpen(stats)) return false;
  chmodSync(path, mode);
  return true;
}

/** Whether it is accessible to others, and this user may change that. */
const isOpen = ({ uid, mode }: Stats): boolean => uid === userInfo().uid && (mode & 0o077) !== 0;
