import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Metafile } from 'esbuild';
import { bundle, bundleAccounts, measure } from '../../lib/bundle.ts';
import { makePages } from '../../lib/reference/render-reference.ts';

let folder: string;
let gateway: Metafile;
let wallet: Metafile;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'accounts-bundle-'));
  gateway = await bundle('lambda/index.ts', join(folder, 'gateway'));
  wallet = await bundleAccounts(join(folder, 'accounts'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The project files and packages in a bundle. */
function contentsOf({ outputs }: Metafile): string[] {
  const inputs = Object.values(outputs).flatMap(({ inputs: used }) => Object.entries(used));
  const kept = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
  return [...new Set(kept.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path))].sort();
}

test('the gateway contains no AWS SDK, and nothing of accounts', () => {
  const found = contentsOf(gateway).filter((name) =>
    /aws-sdk|smithy|viem|noble|openid-client|jose|oauth4webapi|lambda\/accounts/.test(name),
  );
  expect(found).toEqual([]);
});

test('the accounts function contains no code that calls an upstream', () => {
  const contents = contentsOf(wallet);
  expect(contents).toEqual(
    expect.arrayContaining(['viem', 'openid-client', 'lambda/accounts/index.ts', 'lambda/tables/members.ts']),
  );
  expect(contents.filter((name) => /^lambda\/(upstream|stream|steps|forward)\//.test(name))).toEqual([]);
});

test('the pages are beside it, file by file as in the sources, with the generated ones', async () => {
  const list = async (root: string) => {
    const found = await readdir(root, { recursive: true, withFileTypes: true });
    const files = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    return new Map(
      await Promise.all(files.map(async (path) => [relative(root, path), await readFile(path, 'utf8')] as const)),
    );
  };
  const written = await list(join(import.meta.dirname, '../../lambda/accounts/pages'));
  const made = await makePages();
  expect([...made.keys()]).toEqual(['docs/index.html', 'docs/openapi.json']);
  expect(await list(join(folder, 'accounts/pages'))).toEqual(new Map([...written, ...made]));
});

test('each is small enough for a fast start', () => {
  expect(measure(gateway).start).toBeLessThan(600 * 1024);
  expect(measure(wallet).start).toBeLessThan(600 * 1024);
});
