import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Subject } from './subject.ts';

const run = promisify(execFile);

/** Outside the repository, because agents look for instructions in parent folders. */
const shelf = join(tmpdir(), 'gateway-agents');

/** Installs a client from the registry, each version once. Returns its packages' folder. */
export async function install({ client, packages }: Subject): Promise<string> {
  const folder = join(shelf, `${client}-${packages.join('-').replace(/[^\w.-]+/g, '-')}`);
  const modules = join(folder, 'node_modules');
  if (existsSync(modules)) return modules;
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await writeFile(join(unfinished, 'package.json'), '{"private":true}');
  await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], { cwd: unfinished });
  await rename(unfinished, folder);
  return modules;
}

/** From Debian's packages, unless installed: the shell and tools of small systems. */
export async function installBusybox(): Promise<string> {
  const installed = ['/bin/busybox', '/usr/bin/busybox'].find((path) => existsSync(path));
  if (installed !== undefined) return installed;
  const folder = join(shelf, 'busybox');
  await mkdir(folder, { recursive: true });
  const unpacked = join(folder, 'bin/busybox');
  if (!existsSync(unpacked)) {
    await run('sh', ['-c', 'apt-get -qq download busybox && dpkg-deb -x busybox_*.deb .'], { cwd: folder });
  }
  return unpacked;
}
