import { CommanderError } from 'commander';
import { createProgram, type Surroundings } from '../../../operator/doctor/program.ts';
import type { Row } from '../../../operator/examination/row.ts';

export interface Said {
  readonly out: string;
  readonly err: string;
  readonly code: number;
  /** What commander threw, for wrong usage. */
  readonly thrown: unknown;
}

/** Runs the doctor's command line in this process. */
export async function runDoctor(args: readonly string[], surroundings: Partial<Surroundings> = {}): Promise<Said> {
  const said = { out: '', err: '', code: 0 };
  const program = createProgram({
    now: () => performance.now(),
    wait: () => Promise.reject(new Error('there is nothing to wait for')),
    readBlock: () => undefined,
    print: (text) => {
      said.out += `${text}\n`;
    },
    printError: (text) => {
      said.err += text;
    },
    setExitCode: (code) => {
      said.code = code;
    },
    ...surroundings,
  });
  const thrown: unknown = await program.parseAsync(args, { from: 'user' }).then(
    () => undefined,
    (error) => {
      if (error instanceof CommanderError) return error;
      throw error;
    },
  );
  return { ...said, thrown };
}

export function readRows({ out }: Said): readonly Row[] {
  return JSON.parse(out).rows;
}

export const checksOf = (rows: readonly Row[]) => rows.map(({ area, check }) => `${area}: ${check}`);
