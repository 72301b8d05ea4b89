import { chown, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { CommandError } from '../command-line.ts';
import { isMember, type Members } from './members.ts';
import type { Store } from './store.ts';

/** Needs no quotes: Node, systemd, Docker and shells all read it alike. */
const plainValue = /^[\w.,:/+=@-]*$/;

/** The keys in a host's environment file. Only their lines are edited. */
export function createEnvFile(path: string): Store {
  return {
    read: async () => readMembers(await readText(path), path),
    async edit(change) {
      const target = await realpath(path).catch(() => path);
      // Doubles as a lock file, like git's.
      const draft = `${target}.editing`;
      const file = await open(draft, 'wx', 0o600).catch((error) => {
        throw new CommandError(
          Object(error).code === 'EEXIST'
            ? `somebody else edits ${path} right now; if nobody does, remove ${draft}`
            : `${path} can't be changed: ${Object(error).message}`,
        );
      });
      let isDraft = true;
      try {
        const text = await readText(target);
        const members = readMembers(text, path);
        const changed = change(members);
        if (changed.members !== members) {
          await file.writeFile(writeMembers(text, members, changed.members));
          const { mode, uid, gid } = await stat(target);
          await file.chmod(mode & 0o777);
          if (uid !== process.getuid?.()) await chown(draft, uid, gid);
          await file.sync();
          await rename(draft, target);
          isDraft = false;
        }
        return changed.outcome;
      } finally {
        await file.close();
        // Once ours is renamed, a file of this name is another process's.
        if (isDraft) await rm(draft, { force: true });
      }
    },
    afterwards:
      "A server reads it when it starts: restart each process, such as with systemctl restart 'gateway@*', or make its container anew.",
  };
}

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error) => {
    throw new CommandError(`${path} can't be read: ${Object(error).message}`);
  });
}

function readMembers(text: string, path: string): Members {
  const variables = parseEnv(text);
  const members = Object.entries(variables).filter(([name]) => isMember(name));
  const { UPSTREAM_SECRET_ID: secret } = variables;
  if (secret && !members.some(([name]) => name.endsWith('_API_KEYS'))) {
    throw new CommandError(
      `${path} has no keys, but the name of a secret that has: pass the --stack that made ${secret}`,
    );
  }
  return Object.fromEntries(members);
}

/** The text with the lines of changed members replaced, added or removed. */
function writeMembers(text: string, before: Members, after: Members): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  let written = text;
  for (const name of names.filter((one) => before[one] !== after[one])) {
    const value = after[name];
    if (!name.endsWith('_API_KEYS') || (value !== undefined && !plainValue.test(String(value)))) {
      throw new CommandError(
        `${name} has characters that Node, systemd, Docker and a shell read differently in such a file: edit it by hand`,
      );
    }
    const line = value === undefined ? '' : `${name}=${value}\n`;
    const own = new RegExp(`^[ \\t]*(?:export[ \\t]+)?${name}[ \\t]*=.*(?:\\r?\\n|$)`, 'm');
    written = own.test(written) ? written.replace(own, () => line) : `${written.replace(/(?<=[^\n])$/, '\n')}${line}`;
  }
  // A quoted value may have lines that look like variables, so check that no other variable has changed.
  const expected = { ...parseEnv(text), ...after };
  for (const name of names) if (after[name] === undefined) delete expected[name];
  const read = parseEnv(written);
  const isSame = Object.keys({ ...read, ...expected }).every((name) => read[name] === expected[name]);
  if (isSame) return written;
  throw new CommandError('its keys stand there twice, or over several lines: edit it by hand');
}
