import { type Command, Option } from 'commander';
import { readBase } from '../examination/read-base.ts';
import { examineOrTell, exitCodes, exitCodesHelp, type Teller, tellRows } from '../examination/tell.ts';
import { checked, readWhole } from '../read-word.ts';
import { createCommand } from '../run-program.ts';
import { createAsk } from './ask.ts';
import { type Examination, examine } from './examine.ts';
import { leastSecret } from './terms.ts';

export interface Surroundings extends Pick<Examination, 'now' | 'wait' | 'random'>, Teller {}

interface Options {
  readonly base: string;
  readonly secret?: string;
  readonly silence: number;
  readonly throttle?: number;
  readonly json?: true;
}

/** The probe's one command. */
export function createProgram(surroundings: Surroundings): Command {
  const { printError } = surroundings;
  const program = createCommand('npm run probe --', surroundings)
    .description(
      "Finds out what the platform does with the gateway's requests. It uses at most one request of this network's guest, and no model.",
    )
    .requiredOption('--base <url>', 'the base URL of the gateway, or of dist/probe in its place', readBase)
    .addOption(new Option('--secret <text>', 'the secret of dist/probe, if that is deployed').env('PROBE_SECRET'))
    .option('--silence <seconds>', 'how long dist/probe stays silent', readSeconds, 120)
    .option('--throttle <requests>', 'send this many at once, to see what a refusal looks like', readWhole(1, 2_000))
    .option('--json', 'print one JSON document, for programs')
    .addHelpText('after', exitCodesHelp)
    .action(async ({ base, secret: given, silence, throttle, json }: Options) => {
      const secret = given?.trim();
      if (secret !== undefined && secret.length < leastSecret) {
        program.error(`error: --secret must have at least ${leastSecret} characters`, { exitCode: exitCodes.usage });
      }
      const progress = (text: string) => printError(`… ${text}\n`);
      await examineOrTell(() => {
        const rows = examine(createAsk(base), { ...surroundings, secret, silence, throttle, progress });
        return tellRows(rows, surroundings, json && ((told, fine) => ({ base, fine, rows: told })));
      }, surroundings);
    });
  return program;
}

const readSeconds = checked((word) => {
  const number = /^\d+(\.\d+)?$/.test(word) ? Number(word) : Number.NaN;
  return number >= 0.1 && number <= 890 ? number : undefined;
}, 'a number of seconds from 0.1 to 890, fractions allowed');
