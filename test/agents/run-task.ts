import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { noteName, type Task } from './subject.ts';

export interface Outcome {
  /** Its exit code, or null if it was stopped for taking too long. */
  readonly code: number | null;
  readonly output: string;
  readonly wroteNote: boolean;
}

interface Surroundings {
  /** The folder of its packages. */
  readonly modules: string;
  readonly environment: Readonly<Record<string, string>> | undefined;
  readonly timeLimit: number;
}

/** A proxy that leads nowhere, for all hosts but the gateway on 127.0.0.1. */
const nowhere = { HTTPS_PROXY: 'http://127.0.0.1:9', https_proxy: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' };

/** Runs a client with a fresh home. */
export async function runTask(
  { files, command }: Task,
  { modules, environment, timeLimit }: Surroundings,
): Promise<Outcome> {
  const home = await mkdtemp(join(tmpdir(), 'gateway-agent-'));
  const work = join(home, 'work');
  await mkdir(work);
  await symlink(modules, join(work, 'node_modules'));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), content);
  }
  const path = [join(modules, '.bin'), dirname(process.execPath), process.env.PATH].join(':');
  const child = spawn('sh', ['-c', `exec 2>&1\n${command}`], {
    cwd: work,
    env: { HOME: home, PATH: path, ...nowhere, ...environment },
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
  const wroteNote = existsSync(join(work, noteName));
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
  return { code, output, wroteNote };
}
