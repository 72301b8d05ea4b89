import { execFileSync } from 'node:child_process';

/** The commit of the working tree, with `-dirty` if there are changes; undefined if git does not know. */
export function findCommit(cwd: string): string | undefined {
  const words = ['describe', '--always', '--abbrev=40', '--exclude=*', '--dirty'];
  try {
    return execFileSync('git', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
