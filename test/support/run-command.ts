import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createCopyBackProgram } from '../../operator/keys/copy-back-program.ts';
import { createProgram } from '../../operator/keys/program.ts';
import { createResumeProgram, createStopProgram } from '../../operator/keys/stop.ts';
import { openTarget } from '../../operator/keys/target.ts';
import { openStore } from '../../operator/upstream-key/open-store.ts';
import { createUpstreamKeyProgram } from '../../operator/upstream-key/program.ts';
import { now } from './clock.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const programs = {
  keys: createProgram,
  stop: createStopProgram,
  resume: createResumeProgram,
  'copy-back': createCopyBackProgram,
  'upstream-key': createUpstreamKeyProgram,
};

/** Runs an operator's command in this process, as bin/ runs it in its own. Returns what it printed. */
export async function runCommand(
  name: keyof typeof programs,
  words: readonly string[],
  environment: Environment,
  input = '',
) {
  let printed = '';
  const print = (text: string) => {
    printed += `${text}\n`;
  };
  const pause = async () => {};
  const readInput = async () => input;
  const surroundings = { now, randomBytes, openTarget, openStore, readInput, print, printError: print, pause };
  const before = process.env;
  process.env = { ...environment };
  try {
    await programs[name](surroundings).parseAsync(words, { from: 'user' });
  } finally {
    process.env = before;
  }
  return printed;
}

/** How a process exited. */
interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a program in its own process, with only these environment variables, and Node's compile cache. */
function runProcess(file: string, args: readonly string[], environment: Environment, input = ''): Promise<Ended> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, ...environment };
  return new Promise((resolve) => {
    const ended = (code: number, out: string, err: string) => resolve({ code, out, err });
    const child = execFile(file, args, { env }, (error, out, err) => ended(error ? Number(error.code) : 0, out, err));
    child.stdin?.end(input);
  });
}

/** Runs a program of this repository. */
export const runNode = (file: string, args: readonly string[], environment: Environment, input?: string) =>
  runProcess(process.execPath, [file, ...args], environment, input);
