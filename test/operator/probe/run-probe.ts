import { setImmediate } from 'node:timers/promises';
import { CommanderError } from 'commander';
import type { Row } from '../../../operator/examination/row.ts';
import { createProgram } from '../../../operator/probe/program.ts';

export interface Said {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

/** Runs the probe's command line in this process, without its pauses between attempts. */
export async function runProbe(...args: string[]): Promise<Said> {
  const said = { out: '', err: '', code: 0 };
  const program = createProgram({
    now: () => performance.now(),
    wait: async () => {
      await setImmediate();
    },
    random: () => 0.5,
    print: (text) => {
      said.out += `${text}\n`;
    },
    printError: (text) => {
      said.err += text;
    },
    setExitCode: (code) => {
      said.code = code;
    },
  });
  await program.parseAsync(args, { from: 'user' }).catch((error) => {
    if (!(error instanceof CommanderError)) throw error;
    said.code = error.exitCode;
  });
  return said;
}

/** Its findings, by the area and the check of each row. */
export function findings({ out, err }: Said): Record<string, string> {
  if (out === '') throw new Error(err);
  const { rows }: { rows: Row[] } = JSON.parse(out);
  return Object.fromEntries(rows.map(({ area, check, mark, detail }) => [`${area}: ${check}`, `${mark} ${detail}`]));
}
