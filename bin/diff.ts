import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes, messageOf, runDiff } from '../operator/diff/program.ts';

const folder = await mkdtemp(join(tmpdir(), 'gateway-diff-'));
try {
  const surroundings = { root: process.cwd(), folder, print: (text: string) => console.log(text) };
  process.exitCode = await runDiff(process.argv.slice(2), surroundings);
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = exitCodes.failed;
} finally {
  await rm(folder, { recursive: true, force: true });
}
