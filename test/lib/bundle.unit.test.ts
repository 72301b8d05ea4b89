import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Metafile } from 'esbuild';
import { bundle, bundleServer, measure } from '../../lib/bundle.ts';

let folder: string;
let outdir: string;
let metafile: Metafile;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-bundle-'));
  outdir = join(folder, 'first');
  metafile = await bundle('lambda/index.ts', outdir);
});
afterAll(() => rm(folder, { recursive: true }));

async function contents(path: string): Promise<Record<string, string>> {
  const names = (await readdir(path)).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(path, name), 'utf8')])),
  );
}

test('deploys no part of the AWS SDK with the functions', async () => {
  const accounts = await bundle('lambda/accounts/index.ts', join(folder, 'accounts'));
  const packages = [metafile, accounts].flatMap(({ inputs }) =>
    Object.keys(inputs).flatMap((path) => /node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  expect(packages).toEqual(expect.arrayContaining(['node_modules/@middy/core', 'node_modules/openid-client']));
  expect(packages.filter((name) => /aws-sdk|smithy/.test(name))).toEqual([]);
});

test('loads no second HTTP client with the gateway, nor with the server', async () => {
  const server = join(folder, 'server');
  await bundleServer(server);
  for (const file of [join(outdir, 'index.mjs'), join(server, 'index.js')]) {
    const code = await readFile(file, 'utf8');
    expect(code).toContain('process.getBuiltinModule("node:http")');
    // Importing a module of Node's would evaluate all of it.
    expect(code).not.toMatch(/\b(from|import)\s*\(?"(node:|https?")/);
  }
});

test('gives the same bytes for the same sources, whatever the target folder', async () => {
  const second = join(folder, 'deeper', 'second');
  await bundle('lambda/index.ts', second);
  expect(await contents(second)).toEqual(await contents(outdir));
});

test('leaves nothing of an older build', async () => {
  const entry = join(folder, 'entry.ts');
  const built = join(folder, 'built');
  await writeFile(entry, "export const load = () => import('./later.ts');");
  await writeFile(join(folder, 'later.ts'), 'export const answer = 1;');
  await bundle(entry, built);
  const before = await readdir(built);
  expect(before).toContain('index.mjs');
  await writeFile(join(folder, 'later.ts'), 'export const answer = 2;');
  await bundle(entry, built);
  const after = await readdir(built);
  expect(after).toHaveLength(before.length);
  expect(after).not.toEqual(before);
});

test('measures code read at the start apart from code that may never be read', async () => {
  const entry = join(folder, 'entry.ts');
  const built = join(folder, 'measured');
  await writeFile(join(folder, 'shared.ts'), 'export const shared = Math.random();');
  await writeFile(join(folder, 'later.ts'), "import { shared } from './shared.ts'; export const answer = shared + 1;");
  await writeFile(
    entry,
    "import { shared } from './shared.ts'; export const load = () => [shared, import('./later.ts')];",
  );
  const { outputs, ...rest } = await bundle(entry, built);
  const code = Object.entries(await contents(built)).filter(([name]) => name.endsWith('.mjs'));
  expect(code).toHaveLength(3);
  const total = code.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
  const later = Object.values(outputs).find(({ entryPoint }) => entryPoint?.endsWith('later.ts'));
  expect(measure({ outputs, ...rest })).toEqual({ total, start: total - (later?.bytes ?? 0) });
});
