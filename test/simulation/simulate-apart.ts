import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What the command prints, in a process of its own. Worlds take half as long there as in a test. If one is broken, the error explains it. */
export const simulate = (...words: string[]): Promise<string> =>
  promisify(execFile)('npm', ['run', '--silent', 'simulate', '--', ...words]).then(({ stdout }) => stdout);
