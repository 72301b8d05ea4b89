// Nothing is imported before the check: an older Node would stumble over the first file with an error of its own.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(`This needs Node 24 or newer, not ${process.versions.node}. npm run trace brings its own.`);
  process.exit(1);
}
const { mkdtempSync, readFileSync, rmSync } = await import('node:fs');
const { tmpdir } = await import('node:os');
const { join } = await import('node:path');
const { createProgram } = await import('../operator/trace/program.ts');
const { runProgram } = await import('../operator/run-program.ts');

const folder = mkdtempSync(join(tmpdir(), 'gateway-trace-'));
try {
  await runProgram(
    createProgram({
      root: process.cwd(),
      folder,
      read: (file) => readFileSync(file === '-' ? process.stdin.fd : file, 'utf8'),
      print: (text) => console.log(text),
      printError: (text) => process.stderr.write(text),
    }),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
