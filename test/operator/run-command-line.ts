import { type Command, CommanderError } from 'commander';
import type { Teller } from '../../operator/examination/tell.ts';

/** What a command line has said, and the exit code. */
export interface Said {
  readonly out: string;
  readonly err: string;
  readonly code: number;
  /** What commander threw, for wrong usage. */
  readonly thrown: CommanderError | undefined;
}

/** Runs a command line in this process. */
export async function runCommandLine(create: (teller: Teller) => Command, args: readonly string[]): Promise<Said> {
  const said = { out: '', err: '', code: 0 };
  const program = create({
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
  try {
    await program.parseAsync(args, { from: 'user' });
    return { ...said, thrown: undefined };
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    return { ...said, code: thrown.exitCode, thrown };
  }
}
