import './require-node.ts';

const { setTimeout: wait } = await import('node:timers/promises');
const { createProgram } = await import('../operator/probe/program.ts');
const { runProgram, terminal } = await import('../operator/run-program.ts');

const program = createProgram({
  now: () => performance.now(),
  wait,
  random: Math.random,
  ...terminal,
  setExitCode: (code) => {
    process.exitCode = code;
  },
});
await runProgram(program);
