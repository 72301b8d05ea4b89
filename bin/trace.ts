import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram, terminal } from '../operator/command-line.ts';
import { createProgram } from '../operator/trace/program.ts';

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
