import { runProgram, terminal } from '../operator/command-line.ts';
import { createStopProgram } from '../operator/stop.ts';

const program = createStopProgram({
  now: Date.now,
  // Loaded when needed, so that help and wrong usage don't load the SDK.
  openTarget: async (options) => (await import('../operator/keys/target.ts')).openTarget(options),
  ...terminal,
});
await runProgram(program);
