// Nothing is imported before the check: an older Node would stumble over the first file with an error of its own.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(`This needs Node 24 or newer, not ${process.versions.node}. npm run doctor brings its own.`);
  process.exit(1);
}
const { createProgram } = await import('../operator/doctor/program.ts');
const { runProgram } = await import('../operator/run-program.ts');

const program = createProgram({
  now: () => performance.now(),
  print: (text) => console.log(text),
  printError: (text) => process.stderr.write(text),
  setExitCode: (code) => {
    process.exitCode = code;
  },
});
await runProgram(program);
