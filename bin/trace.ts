import './require-node.ts';

const { mkdtempSync, readFileSync, rmSync } = await import('node:fs');
const { tmpdir } = await import('node:os');
const { join } = await import('node:path');
const { createProgram } = await import('../operator/trace/program.ts');
const { runProgram, terminal } = await import('../operator/run-program.ts');

const folder = mkdtempSync(join(tmpdir(), 'gateway-trace-'));
try {
  await runProgram(
    createProgram({
      root: process.cwd(),
      folder,
      read: (file) => readFileSync(file === '-' ? process.stdin.fd : file, 'utf8'),
      ...terminal,
    }),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
