import type { Terminal } from '../command-line.ts';
import { CommandError } from '../command-line.ts';
import { renderRow, renderSummary } from './report.ts';
import type { Row } from './row.ts';

export interface Teller extends Terminal {
  readonly setExitCode: (code: number) => void;
}

/** Wrong usage is also commander's and run-program's. */
export const exitCodes = { fine: 0, wrong: 1, usage: 2, notExamined: 3 };

export const exitCodesHelp =
  '\nExit codes: 0 nothing is wrong, 1 something is, 2 wrong usage, 3 it could not be examined.';

/** Prints each row as it comes, then the summary, and sets the exit code. */
export async function tellRows(
  rows: AsyncIterable<Row>,
  { print, setExitCode }: Teller,
  toJson: ((rows: readonly Row[], isFine: boolean) => object) | undefined,
): Promise<void> {
  const told: Row[] = [];
  for await (const row of rows) {
    told.push(row);
    if (!toJson) print(renderRow(row));
  }
  const isFine = told.every(({ mark }) => mark !== 'fail');
  print(toJson ? JSON.stringify(toJson(told, isFine)) : `\n${renderSummary(told)}`);
  setExitCode(isFine ? exitCodes.fine : exitCodes.wrong);
}

/** Runs an examination that may find nothing to examine. */
export async function examineOrTell(examine: () => Promise<void>, { printError, setExitCode }: Teller): Promise<void> {
  try {
    await examine();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    printError(`error: ${error.message}\n`);
    setExitCode(exitCodes.notExamined);
  }
}
