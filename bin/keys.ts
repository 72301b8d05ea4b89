// Nothing is imported before the check: an older Node would stumble over the first file with an error of its own.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(`This needs Node 24 or newer, not ${process.versions.node}. npm run keys brings its own.`);
  process.exit(1);
}
const { randomBytes } = await import('node:crypto');
const { setTimeout } = await import('node:timers/promises');
const { createProgram } = await import('../operator/keys/program.ts');
const { runProgram } = await import('../operator/run-program.ts');

const program = createProgram({
  now: Date.now,
  randomBytes,
  // Loaded where it is needed: help and wrong usage are answered without the SDK.
  openTarget: async (options) => (await import('../operator/keys/target.ts')).openTarget(options),
  print: (text) => console.log(text),
  printError: (text) => process.stderr.write(text),
  // Ten pages of a megabyte a second: a tenth of what a new table serves.
  pause: () => setTimeout(100),
  onProgress: (scanned) => {
    if (process.stderr.isTTY) process.stderr.write(`${scanned} counters read\r`);
  },
});
await runProgram(program);
