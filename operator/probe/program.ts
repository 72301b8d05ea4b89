import { Command, InvalidArgumentError, Option } from 'commander';
import { CommandError } from '../command-error.ts';
import { renderRow, renderSummary } from '../doctor/report.ts';
import type { Row } from '../doctor/row.ts';
import { parseWhole } from '../parse-whole.ts';
import { createAsk } from './ask.ts';
import { type Examination, examine } from './examine.ts';
import { leastSecret } from './terms.ts';

export interface Surroundings extends Pick<Examination, 'now' | 'wait' | 'random'> {
  readonly print: (text: string) => void;
  /** Prints what is not a result. Includes line ends. */
  readonly printError: (text: string) => void;
  readonly setExitCode: (code: number) => void;
}

interface Options {
  readonly base: string;
  readonly secret?: string;
  readonly silence: number;
  readonly throttle?: number;
  readonly json?: true;
}

/** The same as the doctor's. */
const exitCodes = { fine: 0, wrong: 1, usage: 2, notExamined: 3 };

/** The probe's one command. */
export function createProgram(surroundings: Surroundings): Command {
  const { print, printError, setExitCode } = surroundings;
  const program = new Command('npm run probe --')
    .description(
      "Finds out what the platform does with the gateway's requests. It uses at most one request of this network's guest, and no model.",
    )
    .requiredOption('--base <url>', 'the base URL of the gateway, or of dist/probe in its place', readBase)
    .addOption(new Option('--secret <text>', 'the secret of dist/probe, if that is deployed').env('PROBE_SECRET'))
    .option('--silence <seconds>', 'how long dist/probe stays silent', readSeconds, 120)
    .option('--throttle <requests>', 'send this many at once, to see what a refusal looks like', readWhole(1, 2_000))
    .option('--json', 'print one JSON document, for programs')
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing is wrong, 1 something is, 2 wrong usage, 3 it could not be examined.',
    )
    .exitOverride()
    .configureOutput({ writeOut: (text) => print(text.trimEnd()), writeErr: printError })
    .action(async ({ base, secret: given, silence, throttle, json }: Options) => {
      const secret = given?.trim();
      if (secret !== undefined && secret.length < leastSecret) {
        program.error(`error: --secret must have at least ${leastSecret} characters`, { exitCode: exitCodes.usage });
      }
      const progress = (text: string) => printError(`… ${text}\n`);
      try {
        const rows: Row[] = [];
        for await (const row of examine(createAsk(base), { ...surroundings, secret, silence, throttle, progress })) {
          rows.push(row);
          if (!json) print(renderRow(row));
        }
        const fine = rows.every(({ mark }) => mark !== 'fail');
        print(json ? JSON.stringify({ base, fine, rows }) : `\n${renderSummary(rows)}`);
        setExitCode(fine ? exitCodes.fine : exitCodes.wrong);
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        printError(`error: ${error.message}\n`);
        setExitCode(exitCodes.notExamined);
      }
    });
  return program;
}

function readBase(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return text.replace(/\/+$/, '').replace(/\/v1$/, '');
  throw new InvalidArgumentError('It must be an http(s) URL.');
}

function readSeconds(text: string): number {
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 0.1 && number <= 890) return number;
  throw new InvalidArgumentError('It must be seconds from 0.1 to 890, fractions allowed.');
}

const readWhole = (from: number, to: number) => (text: string) => {
  const number = parseWhole(text, from, to);
  if (number === undefined) throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
  return number;
};
