import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { bundleServer } from '../../lib/bundle.ts';

const sources = ['package-lock.json', 'docs/openapi.json', '{bin,lambda,lib,operator}/**'];

/** The folder with the server's bundle. The same sources are built only once, because it takes seconds. Nobody may write there. */
export async function buildServerOnce(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of globSync(sources).sort()) {
    if (statSync(file).isFile()) hash.update(`${file}\n`).update(readFileSync(file));
  }
  const folder = resolve('.jest-cache/server', hash.digest('hex').slice(0, 16));
  if (existsSync(folder)) return folder;
  const built = `${folder}-${process.pid}`;
  // In a process of its own, as for a deployment: in Jest, Node's modules export other names, and chunks are named differently.
  await promisify(execFile)(process.execPath, [import.meta.filename, built]);
  // Another test may have been faster.
  await rename(built, folder).catch(() => rm(built, { recursive: true }));
  return folder;
}

if (import.meta.main) await bundleServer(process.argv[2] ?? '');
