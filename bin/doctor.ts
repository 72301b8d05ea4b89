import './require-node.ts';

const { existsSync, readFileSync } = await import('node:fs');
const { setTimeout: wait } = await import('node:timers/promises');
const { createProgram } = await import('../operator/doctor/program.ts');
const { runProgram, terminal } = await import('../operator/run-program.ts');

const program = createProgram({
  now: () => performance.now(),
  wait,
  readBlock: () => (existsSync('cdk.json') ? JSON.parse(readFileSync('cdk.json', 'utf8')).context?.gateway : undefined),
  ...terminal,
  setExitCode: (code) => {
    process.exitCode = code;
  },
});
await runProgram(program);
