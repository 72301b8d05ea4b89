import { setImmediate } from 'node:timers/promises';
import type { Row } from '../../../operator/examination/row.ts';
import { createProgram } from '../../../operator/probe/program.ts';
import { runCommandLine, type Said } from '../run-command-line.ts';

/** Runs the probe's command line in this process, without its pauses between attempts. */
export function runProbe(...args: string[]): Promise<Said> {
  const surroundings = { now: () => performance.now(), wait: () => setImmediate(), random: () => 0.5 };
  return runCommandLine((teller) => createProgram({ ...surroundings, ...teller }), args);
}

/** Its findings, by the area and the check of each row. */
export function findings({ out, err }: Said): Record<string, string> {
  if (out === '') throw new Error(err);
  const { rows }: { rows: Row[] } = JSON.parse(out);
  return Object.fromEntries(rows.map(({ area, check, mark, detail }) => [`${area}: ${check}`, `${mark} ${detail}`]));
}
