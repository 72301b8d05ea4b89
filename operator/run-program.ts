import { type Command, CommanderError } from 'commander';

/** Runs a command line; ends with 2 where it was used wrongly, with 1 and a sentence where it failed. */
export async function runProgram(program: Command): Promise<void> {
  try {
    await program.parseAsync();
  } catch (error) {
    // Commander has written already what it found wrong.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      process.exitCode = 1;
      console.error(`error: ${error instanceof Error ? error.message || error.name : error}`);
    }
  }
}
