import { execFileSync } from 'node:child_process';

/** The commit of the working tree, with `-dirty` where there is more than that; undefined where git has nothing to say. */
export function findCommit(cwd: string): string | undefined {
  const words = ['describe', '--always', '--abbrev=40', '--exclude=*', '--dirty'];
  try {
    return execFileSync('git', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
