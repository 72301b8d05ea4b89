import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { faultOf, settingsLike } from './config.ts';
import { nearest } from './deployment-block.ts';

/** What may be said with `-c`. */
const own = ['stage', 'commit', 'distribution'];

/** The block in cdk.json, and what AWS's own tools say. */
const ofOthers = /^(gateway$|aws:|@aws|cdk-|cli-telemetry$)/;

/** The share of its letters that may be wrong in a name that is taken for a slip of the keyboard. */
const slip = 0.4;

const place = 'settings stand in cdk.json under gateway, in defaults or in a stage';

/** The names that a person's own files add to the context of an app. */
export interface Configured {
  /** In the project's cdk.json. */
  readonly project: readonly string[];
  /** In files that tools write, or that other projects share. */
  readonly elsewhere: readonly string[];
}

/**
 * Judges the names in an app's context, which the CDK takes as they are: a slip in `-c stage=prod` would deploy another stage.
 * Faults are names of settings and what looks like a misspelt name; warnings are all others that nobody knows.
 */
export function judgeContext(context: Readonly<Record<string, unknown>>, { project, elsewhere }: Configured) {
  const [faults, warnings]: [string[], string[]] = [[], []];
  for (const [name, value] of Object.entries(context)) {
    if (own.includes(name) || ofOthers.test(name) || elsewhere.includes(name)) continue;
    const settings = settingsLike(name);
    const meant = nearest(name, [...own, ...settings], slip);
    if (settings.includes(name)) faults.push(faultOf(name, value) ?? `-c ${name} does nothing: ${place}`);
    else if (project.includes(name)) continue;
    else if (!meant || !isSlip(name, meant)) warnings.push(`-c ${name} does nothing (there are: ${own.join(', ')})`);
    else if (own.includes(meant)) faults.push(`-c ${name} does nothing: did you mean -c ${meant}=${value}?`);
    else faults.push(`-c ${name} does nothing: did you mean ${meant}? (${place})`);
  }
  return { faults, warnings };
}

/** People rarely miss the first letter; who does, misses little else. */
const isSlip = (name: string, meant: string): boolean =>
  name[0]?.toLowerCase() === meant[0]?.toLowerCase() || nearest(name, [meant], 0.2) !== undefined;

/** Reads the names from where the CDK's command line takes context, besides its own options. */
export function readConfigured(folder: string, home: string): Configured {
  return {
    project: namesIn(join(folder, 'cdk.json'), 'context'),
    elsewhere: [...namesIn(join(folder, 'cdk.context.json')), ...namesIn(join(home, '.cdk.json'), 'context')],
  };
}

/** None where there is no such file; what is wrong with one, the command line says. */
function namesIn(file: string, member?: string): string[] {
  try {
    const content = JSON.parse(readFileSync(file, 'utf8'));
    return Object.keys((member === undefined ? content : content[member]) ?? {});
  } catch {
    return [];
  }
}
