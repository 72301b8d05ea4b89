import { Command, InvalidArgumentError, Option } from 'commander';
import { cost } from './dialect-probes.ts';
import { examine } from './examine.ts';
import { greet } from './greet.ts';
import { createProbe } from './probe.ts';
import { renderRow, renderSummary } from './report.ts';
import type { Row } from './row.ts';

export interface Surroundings {
  /** A clock that only goes forward, in milliseconds. */
  readonly now: () => number;
  readonly print: (text: string) => void;
  /** For what is no result; line ends included. */
  readonly printError: (text: string) => void;
  readonly setExitCode: (code: number) => void;
}

interface Options {
  readonly base: string;
  readonly key: string;
  readonly json?: true;
}

/** A model may think for long; a list of models takes no longer than a cold start. */
const patience = 180_000;
const greetingPatience = 20_000;

/** The doctor's one command. */
export function createProgram({ now, print, printError, setExitCode }: Surroundings): Command {
  return new Command('npm run doctor --')
    .description(`Examines a gateway from outside, deployed or local. It takes ${cost} requests of the key's quota.`)
    .requiredOption('--base <url>', 'the base URL of the gateway, with or without /v1', readBase)
    .addOption(new Option('--key <key>', 'a key of the gateway').env('GATEWAY_KEY').makeOptionMandatory())
    .option('--json', 'print one JSON document, for programs')
    .addHelpText('after', '\nExit codes: 0 healthy, 1 not, 2 wrong usage.')
    .exitOverride()
    .configureOutput({ writeOut: (text) => print(text.trimEnd()), writeErr: printError })
    .action(async ({ base, key, json }: Options) => {
      const probe = createProbe({ base, now, patience });
      const known = await greet(createProbe({ base, now, patience: greetingPatience }), key);
      printError(`This takes ${cost} of the ${known.remaining} requests that the key has left.\n`);
      const rows: Row[] = [];
      for await (const row of examine(probe, key, known)) {
        rows.push(row);
        if (!json) print(renderRow(row));
      }
      const healthy = rows.every(({ mark }) => mark !== 'fail');
      print(json ? JSON.stringify({ base, healthy, cost, rows }) : `\n${renderSummary(rows)}`);
      setExitCode(healthy ? 0 : 1);
    });
}

function readBase(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return text.replace(/\/+$/, '').replace(/\/v1$/, '');
  throw new InvalidArgumentError('It must be an http(s) URL.');
}
