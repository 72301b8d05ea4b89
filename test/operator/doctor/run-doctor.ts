import { createProgram, type Surroundings } from '../../../operator/doctor/program.ts';
import type { Row } from '../../../operator/examination/row.ts';
import { runCommandLine, type Said } from '../run-command-line.ts';

/** Runs the doctor's command line in this process. */
export function runDoctor(args: readonly string[], surroundings: Partial<Surroundings> = {}): Promise<Said> {
  const alone = {
    now: () => performance.now(),
    wait: () => Promise.reject(new Error('there is nothing to wait for')),
    readBlock: () => undefined,
  };
  return runCommandLine((teller) => createProgram({ ...alone, ...teller, ...surroundings }), args);
}

export function readRows({ out }: Said): readonly Row[] {
  return JSON.parse(out).rows;
}

export const checksOf = (rows: readonly Row[]) => rows.map(({ area, check }) => `${area}: ${check}`);
