import { DatabaseSync } from 'node:sqlite';
import { FolderError } from './folder.ts';
import { migrate, migrations, versionOf } from './schema.ts';

/** Milliseconds that SQLite waits for another process's lock. Short, so that reads are answered in between. */
const lockWait = 50;

/** Result codes: https://www.sqlite.org/rescode.html. The low byte of an extended code is the primary one. */
const codes = { busy: 5, locked: 6, corrupt: 11, notDatabase: 26, check: 275 } as const;
/** Codes that point to trouble with the machine, for the log. */
const codeNames: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
};

/** Opens an existing file, which may be empty, and migrates it to the current schema. `checks`: whether to look for corruption. */
export function openDatabase(path: string, checks: boolean): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 2_000 });
  try {
    if (database.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode !== 'wal') {
      throw new FolderError(
        'its file system shares no memory between processes: name a folder on a disk of this machine',
      );
    }
    // A commit returns only once it is on disk.
    database.exec('PRAGMA synchronous = FULL');
    if (versionOf(database) > migrations.length) {
      throw new FolderError('a newer version of the gateway has written it: run that one, or restore a backup');
    }
    if (checks) findDamage(database);
    migrate(database);
    database.exec(`PRAGMA busy_timeout = ${lockWait}`);
    return database;
  } catch (error) {
    database.close();
    throw explain(error);
  }
}

function findDamage(database: DatabaseSync): void {
  const found = String(database.prepare('PRAGMA quick_check(1)').get()?.quick_check);
  // The first line of the report only names the database.
  if (found !== 'ok') throw damaged(found.split('\n').at(-1) ?? found);
}

function explain(error: unknown): unknown {
  if (codeOf(error) === codes.corrupt || codeOf(error) === codes.notDatabase) return damaged(Object(error).message);
  if (isLocked(error)) return new FolderError('another process holds its lock for longer than two seconds');
  return error;
}

const damaged = (how: string) =>
  new FolderError(
    `gateway.db is damaged (${how}): stop all that uses it, and restore a backup, as docs/recovery.md says`,
  );

/** Whether another process holds a lock. */
export const isLocked = (error: unknown): boolean => [codes.busy, codes.locked].some((code) => code === codeOf(error));

/** Whether a CHECK constraint failed. The only ones in the schema keep sums within 2^53. */
export const isTooLarge = (error: unknown): boolean => Object(error).errcode === codes.check;

/** The primary result code of an SQLite error; undefined for other errors. */
export function codeOf(error: unknown): number | undefined {
  const { errcode } = Object(error);
  return typeof errcode === 'number' ? errcode & 0xff : undefined;
}

/** SQLite's name for the primary code. */
export function codeNameOf(error: unknown): string | undefined {
  const code = codeOf(error);
  return code === undefined ? undefined : (codeNames[code] ?? `SQLITE_${code}`);
}
