import { type Command, Option } from 'commander';
import { keyPrefix } from '../../lambda/identity/keys.ts';
import { splitList } from '../../lambda/settings/kinds.ts';
import { ConfigError } from '../../lambda/settings/read.ts';
import { CommandError, createCommand, readWhole } from '../command-line.ts';
import { readBase } from '../examination/read-base.ts';
import { examineOrTell, exitCodes, exitCodesHelp, type Teller, tellRows } from '../examination/tell.ts';
import { cost } from './dialect-probes.ts';
import { examine } from './examine.ts';
import { greet } from './greet.ts';
import { createIssueCommand } from './issue-command.ts';
import { unknownOrigin } from './judge-cors.ts';
import { createProbe } from './probe.ts';
import { fallbackSettings, type KnownSettings, readKnownSettings } from './read-settings.ts';
import { createWaitOut } from './wait-out.ts';

export interface Surroundings extends Teller {
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

/** A model may think for a long time; a list of models takes no longer than a cold start. */
const patience = 180_000;
const greetingPatience = 20_000;

const most = 1_000_000;

/** The doctor's one command. */
export function createProgram(surroundings: Surroundings): Command {
  const { now, wait, printError } = surroundings;
  const program = createCommand('npm run doctor --', surroundings)
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
    .action(async ({ base, key: givenKey, spentKey, names, stage, limit, length, origin, json }: Options) => {
      const key = givenKey.trim();
      if (!key.startsWith(keyPrefix)) {
        // The key is not shown: it may be a valid one with a typo at its beginning.
        const message = `error: --key must begin with ${keyPrefix}: to the gateway, anything else is a guest`;
        program.error(message, { exitCode: exitCodes.usage });
      }
      await examineOrTell(async () => {
        const known = readSettings(surroundings, stage);
        const { memberLimits: member, guestLimits: guest, closed, keepAlive } = known;
        const acquaintance = await greet(createProbe({ base, now, patience: greetingPatience }), key);
        printError(`This takes ${cost} of the ${acquaintance.figures.remaining} requests that the key has left.\n`);
        const examination = {
          ...{ key, spentKey: spentKey?.trim(), origin, length, keepAlive },
          closed: closed && stage !== undefined,
          names: [...new Set([...names, ...known.names])],
          limits: { key: limit, member, guest, certain: stage !== undefined },
          issueKey: createIssueCommand(base, stage),
          waitOut: createWaitOut({ wait, tell: printError }),
        };
        const rows = examine(createProbe({ base, now, patience }), acquaintance, examination);
        await tellRows(rows, surroundings, json && ((told, healthy) => ({ base, healthy, cost, rows: told })));
      }, surroundings);
    });
  return program;
}

/** Without a stage, a block that can't be read only gets a warning: the gateway may have nothing to do with it. */
function readSettings({ readBlock, printError }: Surroundings, stage: string | undefined): KnownSettings {
  const block = readBlock();
  try {
    return block === undefined ? fallbackSettings : readKnownSettings(block, stage);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (stage !== undefined) throw new CommandError(`cdk.json: ${error.message}`);
    printError(`cdk.json is ignored: ${error.message}\n`);
    return fallbackSettings;
  }
}
