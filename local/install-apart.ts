// Installs packages that only tests need, unless they are there already. Each set has its own folder and lockfile: AWS's runtime
// client, whose dependencies are for a native build that never happens, and frameworks as large as a tenth of all other packages.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

for (const folder of process.argv.slice(2)) {
  const installed = join(folder, 'node_modules', '.installed-lock');
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) continue;
  const { status, error, stdout, stderr } = spawnSync('npm', ['ci', '--loglevel=error'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) {
    console.error(`The packages of ${folder} can't be installed: ${error?.message ?? stdout + stderr}`);
    process.exit(1);
  }
  writeFileSync(installed, lock);
}
