// Installs AWS's runtime client for the tests that run the deployed artifact, unless it is there already. It is a package of its
// own because its dependencies serve a native build that never happens, and the product should not carry them.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, 'runtime-client');
const installed = join(folder, 'node_modules', '.installed-lock');
const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');

if (!existsSync(installed) || readFileSync(installed, 'utf8') !== lock) {
  const { status, error, stdout, stderr } = spawnSync('npm', ['ci', '--loglevel=error'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) {
    console.error(
      `The runtime client of the end-to-end tests can't be installed: ${error?.message ?? stdout + stderr}`,
    );
    process.exit(1);
  }
  writeFileSync(installed, lock);
}
