import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The commit of the working tree, with `-dirty` if there are changes; undefined if git does not know. */
export function findCommit(cwd: string): string | undefined {
  const words = ['describe', '--always', '--abbrev=40', '--exclude=*', '--dirty'];
  try {
    return execFileSync('git', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}

interface Report {
  readonly pluginReports: readonly { readonly violations: readonly unknown[] }[];
}

/** Removes the report of the rules if none is broken, because the CDK's command line would print a blank line for it. */
export function dropCleanReport(outdir: string): void {
  const path = join(outdir, 'validation-report.json');
  const { pluginReports }: Report = JSON.parse(readFileSync(path, 'utf8'));
  if (pluginReports.every(({ violations }) => violations.length === 0)) rmSync(path);
}
