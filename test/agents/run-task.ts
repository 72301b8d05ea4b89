import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Task } from './subject.ts';

export interface Outcome {
  /** The exit code, or null if it timed out. */
  readonly code: number | null;
  readonly output: string;
}

export type Home = Awaited<ReturnType<typeof makeHome>>;

/** A fresh home, removed afterwards. `modules` is the folder of the client's packages, `given` the files in its folder `work`. */
export async function makeHome(modules: string, given: Task['files'] = {}) {
  const path = await mkdtemp(join(tmpdir(), 'gateway-agent-'));
  const work = join(path, 'work');
  await mkdir(work);
  await symlink(modules, join(work, 'node_modules'));
  await writeFiles(work, given);
  return {
    path,
    /** The client's working directory. */
    work,
    /** The PATH of its commands. */
    commands: [join(modules, '.bin'), dirname(process.execPath), process.env.PATH].join(':'),
    /** A file in `work`, if it exists. */
    read: (name: string) => {
      try {
        return readFileSync(join(work, name), 'utf8');
      } catch {
        return undefined;
      }
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }),
  };
}

async function writeFiles(folder: string, files: Task['files']): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

interface Surroundings {
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** In milliseconds. */
  readonly timeLimit: number;
  /** Gives it a terminal. Called with the whole screen text whenever it grows. */
  readonly watchTerminal?: (shown: string) => void;
}

/** A proxy that refuses connections, for all hosts but the gateway on 127.0.0.1. */
const nowhere = { HTTPS_PROXY: 'http://127.0.0.1:9', https_proxy: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' };

/** Runs a client in a home. */
export async function runTask(
  { files, command }: Task,
  home: Home,
  { environment, timeLimit, watchTerminal }: Surroundings,
): Promise<Outcome> {
  await writeFiles(home.path, files);
  const [program, words] = watchTerminal
    ? ['script', ['-qec', command, '/dev/null']]
    : ['sh', ['-c', `exec 2>&1\n${command}`]];
  const child = spawn(program, words, {
    cwd: home.work,
    env: { HOME: home.path, PATH: home.commands, TERM: 'xterm', ...nowhere, ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  // The process group, with all child processes.
  const stop = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {}
  };
  const timer = setTimeout(stop, timeLimit);
  const exit = once(child, 'exit').finally(() => {
    clearTimeout(timer);
    stop();
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (piece) => {
    output += piece;
    watchTerminal?.(output);
  });
  const [[code]] = await Promise.all([exit, once(child.stdout, 'end')]);
  return { code, output };
}
