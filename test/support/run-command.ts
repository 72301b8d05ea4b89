import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createCopyBackProgram } from '../../operator/keys/copy-back-program.ts';
import { createProgram } from '../../operator/keys/program.ts';
import { createResumeProgram, createStopProgram } from '../../operator/keys/stop.ts';
import { openTarget } from '../../operator/keys/target.ts';
import { now } from './clock.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const programs = {
  keys: createProgram,
  stop: createStopProgram,
  resume: createResumeProgram,
  'copy-back': createCopyBackProgram,
};

/** Runs an operator's command in this process, as bin/ does it in one of its own, and returns what it printed. */
export async function runCommand(name: keyof typeof programs, words: readonly string[], environment: Environment) {
  let printed = '';
  const print = (text: string) => {
    printed += `${text}\n`;
  };
  const pause = async () => {};
  const surroundings = { now, randomBytes, openTarget, print, printError: print, pause };
  const before = process.env;
  process.env = { ...environment };
  try {
    await programs[name](surroundings).parseAsync(words, { from: 'user' });
  } finally {
    process.env = before;
  }
  return printed;
}

/** How a process has ended. */
interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a program in a process of its own, with only these variables, and where Node keeps what it has compiled. */
function runProcess(file: string, args: readonly string[], environment: Environment): Promise<Ended> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, ...environment };
  return new Promise((resolve) => {
    execFile(file, args, { env }, (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }));
  });
}

/** Runs a program of this repository. */
export const runNode = (file: string, args: readonly string[], environment: Environment) =>
  runProcess(process.execPath, [file, ...args], environment);
