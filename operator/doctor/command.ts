import { type Command, Option } from 'commander';
import { keyPrefix } from '../../lambda/identity/issued-keys.ts';
import { splitList } from '../../lambda/settings/kinds.ts';
import type { ReadToken } from '../../lambda/settings/secrets.ts';
import { readOwnFile, readSharedBlock } from '../../lib/deployment-block.ts';
import { plainJson } from '../../local/plain-text.ts';
import { CommandError, checked, createCommand, type Terminal } from '../command-line.ts';
import { costOf, examine } from './checks.ts';
import { unknownOrigin } from './headers.ts';
import { createProbe, waitOutBurst } from './probe.ts';
import { createFold, type Row, renderRow } from './report.ts';
import { startRun } from './run.ts';
import { nothingKnown, readStage } from './settings.ts';

export interface Dependencies extends Terminal {
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<void>;
  /** Where cdk.json is. */
  readonly folder: string;
  /** The operator's own region, if set. */
  readonly region: string | undefined;
  readonly openAws: () => Promise<ReadToken>;
}

interface Options {
  readonly base: string;
  readonly key?: string;
  readonly names: readonly string[];
  readonly stage?: string;
  readonly origin: string;
  readonly json?: true;
}

const readBase = checked((word) => {
  const url = URL.parse(word);
  return url && /^https?:$/.test(url.protocol) ? word.replace(/\/+$/, '').replace(/\/v1$/, '') : undefined;
}, 'an http(s) URL');

export function createDoctorCommand(dependencies: Dependencies): Command {
  return createCommand('npm run doctor --', dependencies)
    .description(
      `Examines a gateway from outside, deployed or local. It takes ${costOf(['text', 'vision'])} requests of the key's quota, one more of a gateway that makes embeddings. Nobody else should use the key meanwhile.`,
    )
    .requiredOption('--base <url>', 'the base URL of the gateway, with or without /v1', readBase)
    .addOption(new Option('--key <key>', 'a key of the gateway').env('GATEWAY_KEY'))
    .option(
      '--stage <name>',
      'the stage of cdk.json or gateway.json that this gateway runs, whose names must not appear',
    )
    .addOption(
      new Option('--names <a,b>', 'further names that must not appear')
        .env('UPSTREAM_NAMES')
        .argParser(splitList)
        .default([], 'none'),
    )
    .option('--origin <url>', 'a page that may call the gateway', unknownOrigin)
    .option('--json', 'print one JSON document, for programs')
    .addHelpText('after', '\nExit codes: 0 nothing is wrong, 1 something is, 2 wrong usage.')
    .action(({ key, ...options }: Options, command: Command) => {
      if (!key) return command.error("error: no key: give one of the gateway's with --key, or set GATEWAY_KEY to it");
      // Don't print the key: it may be valid but for a typo in its prefix.
      if (!key.startsWith(keyPrefix)) {
        command.error(`error: --key must begin with ${keyPrefix}: to the gateway, anything else is a guest`);
      }
      return diagnose({ ...options, key }, dependencies);
    });
}

/** Runs all checks and prints their rows. Throws if something is wrong. */
async function diagnose(
  options: Options & { key: string },
  { now, wait, folder, region, openAws, print, printError }: Dependencies,
): Promise<void> {
  const { base, key, stage, origin, json } = options;
  const settings =
    stage === undefined ? nothingKnown : readStage(readBlock(folder), stage, readOwnFile(folder), region);
  const { appUrl = base } = settings;
  const names = [...options.names, ...settings.names];
  const app = createProbe(appUrl, now);
  const probe = waitOutBurst(createProbe(base, now), wait, printError);
  const run = await startRun(probe, costOf, { ...settings, key, origin, names, appUrl, app, openAws });
  const { cost } = run;
  printError(
    Number.isNaN(run.left)
      ? `This takes ${cost} requests. The gateway does not say how many the key has left.\n`
      : `This takes ${cost} of the ${run.left} requests that the key has left.\n`,
  );
  const fold = createFold();
  const rows: Row[] = [];
  for await (const row of examine(run)) {
    rows.push(row);
    if (!json) print(renderRow(fold(row)));
  }
  const failed = rows.filter(({ mark }) => mark === 'fail').length;
  if (json) print(plainJson({ base, healthy: failed === 0, cost, rows }));
  if (failed > 0) throw new CommandError(`${failed} of ${rows.length} checks failed`);
  if (!json) print('\nHealthy: no check failed.');
}

/** The settings of all stages. */
function readBlock(folder: string): unknown {
  try {
    return readSharedBlock(folder);
  } catch (error) {
    const { message } = error as Error;
    throw new CommandError(`--stage is read from cdk.json (${message}): run this in the gateway's checkout`);
  }
}
