// Nothing is imported before the check: an older Node would stumble over the first file with an error of its own.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(`This needs Node 24 or newer, not ${process.versions.node}. npm run doctor brings its own.`);
  process.exit(1);
}
const { CommanderError } = await import('commander');
const { createProgram } = await import('../local/doctor/program.ts');

const program = createProgram({
  now: () => performance.now(),
  print: (text) => console.log(text),
  printError: (text) => process.stderr.write(text),
  setExitCode: (code) => {
    process.exitCode = code;
  },
});
try {
  await program.parseAsync();
} catch (error) {
  // Commander has written already what it found wrong.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    process.exitCode = 1;
    console.error(`error: ${error instanceof Error ? error.message || error.name : error}`);
  }
}
