import './require-node.ts';

const { createResumeProgram } = await import('../operator/stop/program.ts');
const { runProgram, terminal } = await import('../operator/run-program.ts');

const program = createResumeProgram({
  // Loaded when needed, so that help and wrong usage don't load the SDK.
  openTarget: async (options) => (await import('../operator/keys/target.ts')).openTarget(options),
  ...terminal,
});
await runProgram(program);
