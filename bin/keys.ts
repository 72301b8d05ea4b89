import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { runProgram, terminal } from '../operator/command-line.ts';
import { createProgram } from '../operator/keys/program.ts';

const program = createProgram({
  now: Date.now,
  randomBytes,
  // Loaded when needed, so that help and wrong usage don't load the SDK.
  openTarget: async (options) => (await import('../operator/keys/target.ts')).openTarget(options),
  ...terminal,
  // Ten pages of a megabyte per second: a tenth of what a new table can serve.
  pause: () => setTimeout(100),
});
await runProgram(program);
