import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Metafile } from 'esbuild';
import { bundle, bundleWallet, measure } from '../../lib/bundle.ts';

let folder: string;
let gateway: Metafile;
let wallet: Metafile;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wallet-bundle-'));
  gateway = await bundle('lambda/index.ts', join(folder, 'gateway'));
  wallet = await bundleWallet(join(folder, 'wallet'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The files of this project, and the packages, that a bundle is made of. */
function contentsOf({ outputs }: Metafile): string[] {
  const inputs = Object.values(outputs).flatMap(({ inputs: used }) => Object.entries(used));
  const kept = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
  return [...new Set(kept.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path))].sort();
}

test('the gateway holds nothing of wallets, and nothing that writes keys', () => {
  const found = contentsOf(gateway).filter((name) => /viem|noble|wallet/.test(name));
  expect(found).toEqual([]);
});

test('the wallet function holds nothing of the way to an upstream', () => {
  const contents = contentsOf(wallet);
  expect(contents).toEqual(expect.arrayContaining(['viem', 'lambda/wallet/index.ts', 'lambda/store/wallets.ts']));
  expect(contents.filter((name) => /^lambda\/(upstream|stream|pipelines|middleware|json)\//.test(name))).toEqual([]);
});

test('the page stands beside it, file by file as it is in the sources', async () => {
  const source = join(import.meta.dirname, '../../lambda/wallet/page');
  const names = await readdir(source);
  expect(await readdir(join(folder, 'wallet/page'))).toEqual(names);
  for (const name of names) {
    const [built, written] = await Promise.all([
      readFile(join(folder, 'wallet/page', name), 'utf8'),
      readFile(join(source, name), 'utf8'),
    ]);
    expect(built).toBe(written);
  }
});

test('each stays as small as a fast start wants it', () => {
  expect(measure(gateway).start).toBeLessThan(600 * 1024);
  expect(measure(wallet).start).toBeLessThan(600 * 1024);
});
