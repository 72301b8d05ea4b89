import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { GatewayError } from '../lambda/errors.ts';
import { plainLines } from '../local/plain-text.ts';

/** A failure that the operator can act on. Only the message is printed, without a stack. */
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

/** Makes a parser for an option's value. If it returns undefined, commander names the option, and `expects` says what is valid. */
export function checked<T>(parse: (word: string) => T | undefined, expects: string): (word: string) => T {
  return (word) => {
    const value = parse(word);
    if (value === undefined) throw new InvalidArgumentError(`It must be ${expects}.`);
    return value;
  };
}

export const matching = (pattern: RegExp, expects: string) =>
  checked((word) => (pattern.test(word) ? word : undefined), expects);

/** Makes a parser in which one word, such as `none`, means null. */
export const orElse =
  <T>(nothing: string, read: (word: string) => T) =>
  (word: string): T | null =>
    word === nothing ? null : read(word);

/** A whole number, without a sign, exponent or fraction. */
export const readWhole = (from: number, to: number) =>
  checked((word) => {
    const number = /^\d{1,9}$/.test(word) ? Number(word) : Number.NaN;
    return number >= from && number <= to ? number : undefined;
  }, `a whole number from ${from} to ${to}`);

export const readLine = matching(/^\P{Cc}{1,200}$/u, 'a text of 1 to 200 characters');

/** Where a command's output goes. */
export interface Terminal {
  /** Prints results. The final newline is added. */
  readonly print: (text: string) => void;
  /** Prints everything else, such as commander's messages. Newlines are included. */
  readonly printError: (text: string) => void;
}

export const terminal: Terminal = {
  print: (text) => console.log(plainLines(text)),
  printError: (text) => process.stderr.write(plainLines(text)),
};

/** An empty program that prints to the terminal, and throws where commander would exit the process. */
export function createCommand(name: string, { print, printError }: Terminal): Command {
  return new Command(name)
    .exitOverride()
    .configureOutput({ writeOut: (text) => print(text.trimEnd()), writeErr: printError });
}

export interface TargetOptions {
  readonly json?: true;
  readonly stack?: string | undefined;
  readonly region?: string | undefined;
  /** Whether the command may be the first to use a DATA_DIR. */
  readonly creates?: boolean;
}

export const addTargetOptions = (command: Command): Command =>
  command
    .option('--json', 'print one JSON document, for programs')
    .option('--stack <name>', 'a deployed stack instead of the local gateway')
    .option('--region <region>', 'where the stack is deployed');

/** Runs a command line. The exit code is 2 for wrong usage, and 1, with a message, for a failure. */
export async function runProgram(program: Command, words = process.argv.slice(2)): Promise<void> {
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    // Commander has already printed the usage error.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      process.exitCode = 1;
      terminal.printError(`error: ${explain(error)}\n`);
    }
  }
}

/** A message that the operator can act on: a GatewayError's own message is for callers, and hides the cause. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (error instanceof GatewayError && cause instanceof Error) return `${cause.name}: ${cause.message}`;
  return error.message || error.name;
}
