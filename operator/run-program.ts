import { Command, CommanderError } from 'commander';

/** Where the words of a command go. */
export interface Terminal {
  /** Takes results, without their last line end. */
  readonly print: (text: string) => void;
  /** Takes everything else, such as what commander writes, line ends included. */
  readonly printError: (text: string) => void;
}

export const terminal: Terminal = {
  print: (text) => console.log(text),
  printError: (text) => process.stderr.write(text),
};

/** An empty command line. What commander says goes to the terminal, and where it would end the process it throws. */
export function createCommand(name: string, { print, printError }: Terminal): Command {
  return new Command(name)
    .exitOverride()
    .configureOutput({ writeOut: (text) => print(text.trimEnd()), writeErr: printError });
}

/** Runs a command line. Exits with 2 after wrong usage, with 1 and a message after a failure. */
export async function runProgram(program: Command): Promise<void> {
  try {
    await program.parseAsync();
  } catch (error) {
    // Commander has already written what is wrong.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      process.exitCode = 1;
      console.error(`error: ${error instanceof Error ? error.message || error.name : error}`);
    }
  }
}
