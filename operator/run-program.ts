import { type Command, CommanderError } from 'commander';

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
