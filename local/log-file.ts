import { closeSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { gatewayFileDirectory } from './gateway-file.ts';

/** The part of its log that a running local gateway keeps for the operator's commands. */
export interface LogFile {
  write(line: string): void;
  /** Removes it; later writes are lost. */
  remove(): void;
}

const defaultLimit = 16 * 1024 * 1024;

/**
 * Opens the log of the gateway on a port, in the directory of its file, which is private already. It keeps two parts of at most
 * `limit` bytes each: a full one replaces the one before.
 */
export function openLogFile({ port, pid }: Owner, directory = gatewayFileDirectory(), limit = defaultLimit): LogFile {
  const [current, earlier] = partsOf({ port, pid }, directory);
  // Those of gateways on this port that were killed.
  for (const name of readdirSync(directory)) {
    if (name.startsWith(`log-${port}-`)) rmSync(join(directory, name), { force: true });
  }
  let file: number | undefined = openPart(current);
  let size = 0;

  const close = () => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  const append = (line: string) => {
    if (file === undefined) return;
    const bytes = Buffer.from(line);
    if (size > 0 && size + bytes.length > limit) {
      close();
      renameSync(current, earlier);
      file = openPart(current);
      size = 0;
    }
    writeSync(file, bytes);
    size += bytes.length;
  };

  return {
    write(line) {
      try {
        append(line);
      } catch {
        // A full disk costs the operator this copy, but must cost no caller an answer.
        close();
      }
    },
    remove() {
      close();
      for (const part of [current, earlier]) rmSync(part, { force: true });
    },
  };
}

/** The lines that are kept, the oldest first. */
export function readLogFile(owner: Owner, directory = gatewayFileDirectory()): string[] {
  const [current, earlier] = partsOf(owner, directory);
  return [earlier, current].flatMap((part) => readPart(part).split('\n')).filter((line) => line !== '');
}

interface Owner {
  readonly port: number;
  readonly pid: number;
}

const partsOf = ({ port, pid }: Owner, directory: string) =>
  ['', '.1'].map((suffix) => join(directory, `log-${port}-${pid}${suffix}`)) as [string, string];

const openPart = (path: string) => openSync(path, 'wx', 0o600);

function readPart(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
