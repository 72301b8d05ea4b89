// Nothing is imported before the check: an older Node would stumble over the first file with an error of its own.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(`This needs Node 24 or newer, not ${process.versions.node}. npm run stop brings its own.`);
  process.exit(1);
}
const { createStopProgram } = await import('../operator/stop/program.ts');
const { runProgram } = await import('../operator/run-program.ts');

const program = createStopProgram({
  now: Date.now,
  // Loaded where it is needed: help and wrong usage are answered without the SDK.
  openTarget: async (options) => (await import('../operator/keys/target.ts')).openTarget(options),
  print: (text) => console.log(text),
  printError: (text) => process.stderr.write(text),
});
await runProgram(program);
