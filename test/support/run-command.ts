import { randomBytes } from 'node:crypto';
import { createProgram } from '../../operator/keys/program.ts';
import { openTarget } from '../../operator/keys/target.ts';
import { createResumeProgram, createStopProgram } from '../../operator/stop/program.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs an operator's command in this process, as bin/ does it in one of its own, and returns what it printed. */
export async function runCommand(name: 'keys' | 'stop' | 'resume', words: readonly string[], environment: Environment) {
  let printed = '';
  const print = (text: string) => {
    printed += `${text}\n`;
  };
  const surroundings = { now: Date.now, randomBytes, openTarget, environment, print, printError: print };
  const programs = {
    keys: () => createProgram({ ...surroundings, pause: async () => {}, onProgress: () => {} }),
    stop: () => createStopProgram(surroundings),
    resume: () => createResumeProgram(surroundings),
  };
  const before = process.env;
  process.env = { ...environment };
  try {
    await programs[name]().parseAsync(words, { from: 'user' });
  } finally {
    process.env = before;
  }
  return printed;
}
