import { parseArgs } from 'node:util';

export const usage = `npm run mutate -- PATH… [--sample N] [--seed S]
  PATH        files or folders of lambda/, lib/, local/ or operator/
  --sample N  so many defects of each PATH, drawn by the seed; all without it
  --seed S    another seed, another sample (1)
  --help      shows this
Plants one small defect at a time (an operator, a condition, a constant; a statement or an await dropped), runs the unit and
integration tests that its file's imports lead to, the nearest first, up to the first that fails, and lists what no test
noticed. No file is changed. Ends with 0 where every defect was noticed, 1 where some were not, 2 where it could not run.`;

/** What to try. */
export interface Command {
  readonly paths: readonly string[];
  /** Undefined: every defect. */
  readonly sample: number | undefined;
  readonly seed: number;
  readonly help: boolean;
}

/** Throws a TypeError if a word is wrong. */
export function readCommand(words: readonly string[]): Command {
  const { positionals: paths, values } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      sample: { type: 'string' },
      seed: { type: 'string', default: '1' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { help } = values;
  const sample = values.sample === undefined ? undefined : readNumber('--sample', values.sample);
  if (paths.length === 0 && !help) throw new TypeError('no PATH was given');
  return { paths, sample, seed: readNumber('--seed', values.seed), help };
}

function readNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new TypeError(`${name} takes a whole number, not ${text}`);
  return Number(text);
}
