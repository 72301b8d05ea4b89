// Nothing is imported before the check: an older Node would stumble over the first file with an error of its own.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(`This needs Node 24 or newer, not ${process.versions.node}. npm run probe brings its own.`);
  process.exit(1);
}
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
