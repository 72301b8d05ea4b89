import { runProgram, terminal } from '../operator/command-line.ts';
import { createResumeProgram } from '../operator/stop.ts';

const program = createResumeProgram({
  // Loaded when needed, so that help and wrong usage don't load the SDK.
  openTarget: async (options) => (await import('../operator/keys/target.ts')).openTarget(options),
  ...terminal,
});
await runProgram(program);
