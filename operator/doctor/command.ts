import { type Command, Option } from 'commander';
import { keyPrefix } from '../../lambda/identity/keys.ts';
import { splitList } from '../../lambda/settings/read.ts';
import { CommandError, checked, createCommand, readWhole, type Terminal } from '../command-line.ts';
import { unknownOrigin } from './answers.ts';
import { checksOf, cost } from './checks.ts';
import { createProbe, waitOutBurst } from './probe.ts';
import { type Row, renderRow, renderSummary } from './report.ts';
import { findGateway, runChecks, startRun } from './run.ts';
import { createIssueCommand, readSettings } from './settings.ts';

export interface Dependencies extends Terminal {
  readonly setExitCode: (code: number) => void;
  /** A clock that only goes forward, in milliseconds. */
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<void>;
  /** The `gateway` block of cdk.json in this folder; undefined if there is none. */
  readonly readBlock: () => unknown;
}

interface Options {
  readonly base: string;
  readonly key: string;
  readonly spentKey?: string;
  readonly names: readonly string[];
  readonly stage?: string;
  readonly limit?: number;
  readonly length: number;
  readonly origin: string;
  readonly json?: true;
}

const exitCodes = { fine: 0, wrong: 1, usage: 2, notExamined: 3 };

const exitCodesHelp = '\nExit codes: 0 nothing is wrong, 1 something is, 2 wrong usage, 3 it could not be examined.';

/** A model may think for a long time; a list of models takes no longer than a cold start. */
const patience = 180_000;
const firstPatience = 20_000;

const most = 1_000_000;

const readBase = checked((word) => {
  const url = URL.parse(word);
  return url && /^https?:$/.test(url.protocol) ? word.replace(/\/+$/, '').replace(/\/v1$/, '') : undefined;
}, 'an http(s) URL');

export function createDoctorCommand(dependencies: Dependencies): Command {
  const command = createCommand('npm run doctor --', dependencies)
    .description(`Examines a gateway from outside, deployed or local. It takes ${cost} requests of the key's quota.`)
    .requiredOption('--base <url>', 'the base URL of the gateway, with or without /v1', readBase)
    .addOption(new Option('--key <key>', 'a key of the gateway').env('GATEWAY_KEY').makeOptionMandatory())
    .addOption(new Option('--spent-key <key>', 'a key without quota, to see refusals').env('GATEWAY_SPENT_KEY'))
    .addOption(
      new Option('--names <a,b>', 'names that must not appear, besides those in cdk.json')
        .env('UPSTREAM_NAMES')
        .argParser(splitList)
        .default([], 'none'),
    )
    .option('--stage <name>', 'the stage of cdk.json that this gateway runs; otherwise it may be any')
    .option('--limit <requests>', 'the daily limit of the key, if it has its own', readWhole(0, most))
    .option(
      '--length <numbers>',
      'how many numbers a stream is to write; a fast model needs more',
      readWhole(10, most),
      40,
    )
    .option('--origin <url>', 'a page that may call the gateway', unknownOrigin)
    .option('--json', 'print one JSON document, for programs')
    .addHelpText('after', exitCodesHelp)
    .action(async (options: Options) => {
      const key = options.key.trim();
      if (!key.startsWith(keyPrefix)) {
        // The key is not shown: it may be a valid one with a typo at its beginning.
        const message = `error: --key must begin with ${keyPrefix}: to the gateway, anything else is a guest`;
        command.error(message, { exitCode: exitCodes.usage });
      }
      try {
        const healthy = await examine({ ...options, key }, dependencies);
        dependencies.setExitCode(healthy ? exitCodes.fine : exitCodes.wrong);
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        dependencies.printError(`error: ${error.message}\n`);
        dependencies.setExitCode(exitCodes.notExamined);
      }
    });
  return command;
}

/** Runs all checks and prints their rows. Says whether nothing is wrong. */
async function examine(options: Options, { now, wait, readBlock, print, printError }: Dependencies): Promise<boolean> {
  const { base, key, spentKey, stage, limit, length, origin, json } = options;
  const settings = readSettings(readBlock(), stage, printError);
  const { memberLimits: member, guestLimits: guest, appUrl = base } = settings;
  const gateway = await findGateway(createProbe(base, now, firstPatience), key, cost);
  printError(`This takes ${cost} of the ${gateway.figures.remaining} requests that the key has left.\n`);
  const probe = createProbe(base, now, patience);
  const run = await startRun(probe, (asking) => waitOutBurst(asking, wait, printError), gateway, {
    ...{ ...settings, key, spentKey: spentKey?.trim(), origin, length },
    closed: settings.closed && stage !== undefined,
    names: [...new Set([...options.names, ...settings.names])],
    limits: { key: limit, member, guest, certain: stage !== undefined },
    issueCommand: createIssueCommand(base, stage),
    ...{ appUrl, app: createProbe(appUrl, now, firstPatience) },
  });
  const rows: Row[] = [];
  for await (const row of runChecks(checksOf(run))) {
    rows.push(row);
    if (!json) print(renderRow(row));
  }
  const healthy = rows.every(({ mark }) => mark !== 'fail');
  print(json ? JSON.stringify({ base, healthy, cost, rows }) : `\n${renderSummary(rows)}`);
  return healthy;
}
