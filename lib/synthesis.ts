import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The commit of the working tree, with `-dirty` if there are changes; undefined if git can't tell. */
export function findCommit(cwd: string): string | undefined {
  const words = ['describe', '--always', '--abbrev=40', '--exclude=*', '--dirty'];
  try {
    return execFileSync('git', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}

/** Where the working tree's docs are on the web; undefined unless it was cloned from a host whose URLs are known. */
export function findDocs(cwd: string): string | undefined {
  const words = ['remote', 'get-url', 'origin'];
  try {
    const url = execFileSync('git', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    const [, name] =
      /^(?:https:\/\/(?:[^@/]*@)?|(?:ssh:\/\/)?git@)github\.com[:/]([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(url) ?? [];
    return name && `https://github.com/${name}/blob/HEAD/docs`;
  } catch {
    return undefined;
  }
}

/** Context keys that the app or AWS's tools read. */
const known = /^(stage$|commit$|distribution$|gateway$|aws:|@aws|cdk-|cli-telemetry$)/;

/**
 * Unknown context keys. The CDK accepts any, and a typo in `-c stage=prod` would deploy another stage. Files that tools write, or
 * that other projects share, may have keys of their own.
 */
export function findContextFaults(context: object, folder: string, home: string): string[] {
  const elsewhere = { ...readJson(join(folder, 'cdk.context.json')), ...readJson(join(home, '.cdk.json')).context };
  return Object.keys(context)
    .filter((name) => !known.test(name) && !Object.hasOwn(elsewhere, name))
    .map(
      (name) =>
        `-c ${name} does nothing: there are stage, commit and distribution, and settings stand in cdk.json under gateway`,
    );
}

interface Files {
  readonly context?: object;
  readonly pluginReports?: readonly { readonly violations: readonly unknown[] }[];
}

/** Empty if the file is missing or malformed. The CDK's command line reports the latter. */
function readJson(file: string): Files {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) ?? {};
  } catch {
    return {};
  }
}

/** Removes the rules' report if none is broken, because the CDK's command line would print a blank line for it. */
export function dropCleanReport(outdir: string): void {
  const path = join(outdir, 'validation-report.json');
  const { pluginReports } = readJson(path);
  if (pluginReports?.every(({ violations }) => violations.length === 0)) rmSync(path);
}
