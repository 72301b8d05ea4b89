import './require-node.ts';

const { setTimeout: wait } = await import('node:timers/promises');
const { createProgram } = await import('../operator/probe/program.ts');
const { runProgram } = await import('../operator/run-program.ts');

const program = createProgram({
  now: () => performance.now(),
  wait,
  random: Math.random,
  print: (text) => console.log(text),
  printError: (text) => process.stderr.write(text),
  setExitCode: (code) => {
    process.exitCode = code;
  },
});
await runProgram(program);
