import { parseArgs } from 'node:util';
import { type Figure, figures, type MeasurementName, measurements, rowName } from './figures.ts';
import type { Measurement } from './measurements/measurement.ts';

export const usage = `npm run bench -- [--only NAME] [--rounds N] [--goals] [--markdown] [--plot] [--last]
       npm run bench -- --profile ROW
  --only NAME   one measurement: ${Object.keys(measurements).join(', ')}
                (server is measured only if it is named)
  --rounds N    how often each subject is measured, in turn with the others
  --goals       marks each figure that has a goal, and fails where one is missed
  --markdown    prints the table, of which docs/performance.md has the main rows
  --plot        draws every sample into an SVG beside the results
  --last        shows the latest results instead of measuring
  --profile ROW prints the functions that take most of one row's time instead of the table. A row is a measurement and a
                sample: requests/processor. A wrong one lists them all
  --help        shows this`;

/** The options of `npm run bench`. */
export interface Command {
  readonly names: readonly MeasurementName[];
  /** Undefined for each measurement's own number. */
  readonly rounds: number | undefined;
  readonly goals: boolean;
  readonly markdown: boolean;
  readonly plot: boolean;
  readonly last: boolean;
  /** The row to profile instead of measuring. */
  readonly profile: Figure | undefined;
  readonly help: boolean;
}

/** Throws a TypeError if an option is wrong. */
export function readCommand(words: readonly string[]): Command {
  const { only, rounds, profile, ...flags } = parseArgs({
    args: [...words],
    options: {
      only: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      goals: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
      plot: { type: 'boolean', default: false },
      last: { type: 'boolean', default: false },
      profile: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  }).values;
  const all = Object.keys(measurements) as MeasurementName[];
  const unknown = only?.filter((name) => !all.some((one) => one === name)) ?? [];
  if (unknown.length > 0) throw new TypeError(`no such measurement: ${unknown.join(', ')}`);
  const count = rounds === undefined ? undefined : Number(rounds);
  if (count !== undefined && !(Number.isInteger(count) && count > 0)) {
    throw new TypeError('--rounds takes a number from 1');
  }
  const names = all.filter((name) => only?.includes(name) ?? !isApart(name));
  return { ...flags, rounds: count, names, profile: profile === undefined ? undefined : findRow(profile) };
}

function isApart(name: MeasurementName): boolean {
  const { isApart = false }: Measurement = measurements[name];
  return isApart;
}

/** Sizes and memory have no profile. */
const withProfile = figures.filter(({ unit }) => unit !== 'KB' && unit !== 'MB');

function findRow(name: string): Figure {
  const found = withProfile.find((figure) => rowName(figure) === name);
  if (found) return found;
  const rows = withProfile.map((figure) => `  ${rowName(figure).padEnd(30)} ${figure.title}`);
  throw new TypeError(`no such row: ${name}. The rows are\n${rows.join('\n')}`);
}
