import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { GatewayError } from '../lambda/errors.ts';
import { plainLines } from '../local/plain-text.ts';

/** A command failed for a reason that the operator can act on. The message is all that is shown. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CommandError';
  }
}

export interface Outcome {
  readonly json: unknown;
  readonly text: string;
}

/** Makes a reader of a command line's words. For a wrong one commander names the option, and `expects` says what it may be. */
export function checked<T>(parse: (word: string) => T | undefined, expects: string): (word: string) => T {
  return (word) => {
    const value = parse(word);
    if (value === undefined) throw new InvalidArgumentError(`It must be ${expects}.`);
    return value;
  };
}

export const matching = (pattern: RegExp, expects: string) =>
  checked((word) => (pattern.test(word) ? word : undefined), expects);

/** Makes a reader to which one word means nothing at all. */
export const orElse =
  <T>(nothing: string, read: (word: string) => T) =>
  (word: string): T | null =>
    word === nothing ? null : read(word);

/** A number in its plain spelling. */
export const readWhole = (from: number, to: number) =>
  checked((word) => {
    const number = /^\d{1,9}$/.test(word) ? Number(word) : Number.NaN;
    return number >= from && number <= to ? number : undefined;
  }, `a whole number from ${from} to ${to}`);

export const readLine = matching(/^\P{Cc}{1,200}$/u, 'a text of 1 to 200 characters');

/** Where the words of a command go. */
export interface Terminal {
  /** Takes results, without their last line end. */
  readonly print: (text: string) => void;
  /** Takes everything else, such as what commander writes, line ends included. */
  readonly printError: (text: string) => void;
}

export const terminal: Terminal = {
  print: (text) => console.log(plainLines(text)),
  printError: (text) => process.stderr.write(plainLines(text)),
};

/** An empty command line. What commander says goes to the terminal, and where it would end the process it throws. */
export function createCommand(name: string, { print, printError }: Terminal): Command {
  return new Command(name)
    .exitOverride()
    .configureOutput({ writeOut: (text) => print(text.trimEnd()), writeErr: printError });
}

/** Which gateway a command acts on, and how it prints the outcome. */
export interface TargetOptions {
  readonly json?: true;
  readonly stack?: string | undefined;
  readonly region?: string | undefined;
}

export const addTargetOptions = (command: Command): Command =>
  command
    .option('--json', 'print one JSON document, for programs')
    .option('--stack <name>', 'a deployed stack instead of the local gateway')
    .option('--region <region>', 'where the stack is deployed');

/** Runs a command line. Exits with 2 after wrong usage, with 1 and a message after a failure. */
export async function runProgram(program: Command, words = process.argv.slice(2)): Promise<void> {
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    // Commander has already written what is wrong.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      process.exitCode = 1;
      terminal.printError(`error: ${explain(error)}\n`);
    }
  }
}

/** What an operator can act on: what the gateway tells its callers says nothing of the cause. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (error instanceof GatewayError && cause instanceof Error) return `${cause.name}: ${cause.message}`;
  return error.message || error.name;
}
