import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

interface Report {
  readonly pluginReports: readonly { readonly violations: readonly unknown[] }[];
}

/** Removes the report of the rules if none is broken, because the CDK's command line would print a blank line for it. */
export function dropCleanReport(outdir: string): void {
  const path = join(outdir, 'validation-report.json');
  const { pluginReports }: Report = JSON.parse(readFileSync(path, 'utf8'));
  if (pluginReports.every(({ violations }) => violations.length === 0)) rmSync(path);
}
