import { CommanderError } from 'commander';
import { createDoctorCommand, type Dependencies } from '../../../operator/doctor/command.ts';
import type { Row } from '../../../operator/doctor/report.ts';

/** What a command line has said, and the exit code. */
export interface Said {
  readonly out: string;
  readonly err: string;
  readonly code: number;
  /** What commander threw, for wrong usage. */
  readonly thrown: CommanderError | undefined;
}

/** Runs the doctor's command line in this process. */
export async function runDoctor(args: readonly string[], dependencies: Partial<Dependencies> = {}): Promise<Said> {
  const said = { out: '', err: '', code: 0 };
  const command = createDoctorCommand({
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
    ...dependencies,
  });
  try {
    await command.parseAsync(args, { from: 'user' });
    return { ...said, thrown: undefined };
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    return { ...said, code: thrown.exitCode, thrown };
  }
}

export function readRows({ out }: Said): readonly Row[] {
  return JSON.parse(out).rows;
}

export const checksOf = (rows: readonly Row[]) => rows.map(({ area, check }) => `${area}: ${check}`);
