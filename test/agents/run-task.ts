import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Task } from './subject.ts';

export interface Outcome {
  /** Its exit code, or null if it was stopped for taking too long. */
  readonly code: number | null;
  readonly output: string;
}

/** A fresh home, removed afterwards. */
export interface Home extends AsyncDisposable {
  readonly path: string;
  /** The folder that clients run in. */
  readonly work: string;
  /** A file of that folder, if it is there. */
  read(name: string): string | undefined;
}

/** `given`: contents of files below its folder `work`. */
export async function makeHome(given: Task['files'] = {}): Promise<Home> {
  const path = await mkdtemp(join(tmpdir(), 'gateway-agent-'));
  const work = join(path, 'work');
  await mkdir(work);
  await writeFiles(work, given);
  return {
    path,
    work,
    read: (name) => {
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
  /** The folder of its packages. */
  readonly modules: string;
  readonly environment: Readonly<Record<string, string>> | undefined;
  readonly timeLimit: number;
}

/** A proxy that leads nowhere, for all hosts but the gateway on 127.0.0.1. */
const nowhere = { HTTPS_PROXY: 'http://127.0.0.1:9', https_proxy: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' };

/** Runs a client in a home. */
export async function runTask(
  { files, command }: Task,
  home: Home,
  { modules, environment, timeLimit }: Surroundings,
): Promise<Outcome> {
  await symlink(modules, join(home.work, 'node_modules'));
  await writeFiles(home.path, files);
  const path = [join(modules, '.bin'), dirname(process.execPath), process.env.PATH].join(':');
  const child = spawn('sh', ['-c', `exec 2>&1\n${command}`], {
    cwd: home.work,
    env: { HOME: home.path, PATH: path, ...nowhere, ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  // The whole group, with everything that it has started.
  const stop = () => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {}
  };
  const timer = setTimeout(stop, timeLimit);
  const exit = once(child, 'exit').finally(() => {
    clearTimeout(timer);
    stop();
  });
  const [[code], output] = await Promise.all([exit, text(child.stdout)]);
  return { code, output };
}
