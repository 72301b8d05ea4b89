import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where a program of Prometheus' is: in the folder PROMETHEUS, or in one of PATH. */
export function findProgram(name: 'prometheus' | 'promtool'): string {
  const folders = [process.env.PROMETHEUS ?? '', ...(process.env.PATH ?? '').split(delimiter)].filter(Boolean);
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(howToInstall);
  return found;
}

const howToInstall =
  'This needs Prometheus: on Debian and Ubuntu `apt-get install -y prometheus`; elsewhere set PROMETHEUS to the folder of its programs.';

// Run before the tests, so that without it there is one line and no stack trace.
if (import.meta.main) {
  try {
    findProgram('prometheus');
  } catch {
    console.error(howToInstall);
    process.exit(1);
  }
}
