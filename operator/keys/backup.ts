import { closeSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CommandError, type Outcome } from '../command-line.ts';
import type { Target } from './target.ts';

/** Makes a consistent copy of the database while it is in use. */
export async function backUp({ dataDir }: Target, path: string): Promise<Outcome> {
  if (dataDir === undefined) {
    throw new CommandError('backup is for a DATA_DIR: DynamoDB backs its tables up itself, as docs/operations.md says');
  }
  makeFile(path);
  try {
    const database = new DatabaseSync(join(dataDir, 'gateway.db'), { timeout: 2_000 });
    database.prepare('VACUUM INTO ?').run(path);
    database.close();
    const file = openSync(path, 'r+');
    fsyncSync(file);
    closeSync(file);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
  const bytes = statSync(path).size;
  return { json: { path, bytes }, text: `${path} holds all of ${dataDir}: ${bytes} bytes. Keep it as safe as that.` };
}

/** As private as the database: it holds members and network hashes. */
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandError(code === 'EEXIST' ? `${path} is there already: name a new file` : message);
  }
}
