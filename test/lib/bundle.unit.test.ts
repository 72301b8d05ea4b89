import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Metafile } from 'esbuild';
import { bundle, bundleAccounts, bundleServer, measure, startOf } from '../../lib/bundle.ts';
import { makePages } from '../../lib/reference/render-reference.ts';

let folder: string;
let outdir: string;
let gateway: Metafile;
let accounts: Metafile;
let server: Metafile;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-bundle-'));
  outdir = join(folder, 'first');
  gateway = await bundle('lambda/index.ts', outdir);
  accounts = await bundleAccounts(join(folder, 'accounts'));
  server = await bundleServer(join(folder, 'server'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The files in a folder and its subfolders, with their contents. */
async function contents(folder: string): Promise<Record<string, string>> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [relative(folder, path), await readFile(path, 'utf8')] as const)),
  );
}

/** The project files and packages in a bundle, or in some of its chunks. */
function contentsOf({ outputs }: Metafile, files: Iterable<string> = Object.keys(outputs)): string[] {
  const inputs = [...files].flatMap((file) => Object.entries(outputs[file]?.inputs ?? {}));
  const kept = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
  return [...new Set(kept.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path))].sort();
}

test('the gateway contains no code of accounts, and their function none that calls an upstream', () => {
  const [ofGateway, ofAccounts] = [contentsOf(gateway), contentsOf(accounts)];
  expect(ofGateway).toContain('@middy/core');
  expect(ofGateway.filter((name) => /^ox$|noble|openid-client|jose|oauth4webapi|lambda\/accounts/.test(name))).toEqual(
    [],
  );
  expect(ofAccounts).toEqual(
    expect.arrayContaining(['ox', 'openid-client', 'lambda/accounts/index.ts', 'lambda/store/admin/members.ts']),
  );
  expect(ofAccounts.filter((name) => /^lambda\/(upstream|stream|steps|forward)\//.test(name))).toEqual([]);
});

test('no client of the AWS SDK is deployed with the gateway', () => {
  const ofSdk = Object.keys(gateway.inputs).flatMap((path) => path.match(/(@aws-sdk|@smithy)\/[^/]+/)?.[0] ?? []);
  // It only converts attribute values.
  expect([...new Set(ofSdk)]).toEqual(['@aws-sdk/util-dynamodb']);
});

test('a start of the gateway does not load what only some deployments need', () => {
  const atStart = contentsOf(gateway, startOf(gateway));
  expect(contentsOf(gateway)).toContain('lambda/dialects/translation.ts');
  const ofDialects = atStart.filter((name) => /^lambda\/dialects\/(chat|responses|messages)\//.test(name));
  expect(ofDialects.toSorted()).toEqual([
    'lambda/dialects/chat/chat.ts',
    'lambda/dialects/chat/texts.ts',
    'lambda/dialects/messages/messages.ts',
    'lambda/dialects/messages/texts.ts',
    'lambda/dialects/responses/request-body.ts',
    'lambda/dialects/responses/responses.ts',
    'lambda/dialects/responses/texts.ts',
  ]);
});

test('descriptions of settings are not deployed', () => {
  for (const { inputs } of [gateway, accounts, server]) {
    expect(Object.keys(inputs)).toContain('lambda/settings/definitions.ts');
    expect(Object.keys(inputs).filter((path) => /^lambda\/settings\/.*descriptions/.test(path))).toEqual([]);
  }
});

test('accounts load the document client, and the rest of the SDK lazily', () => {
  expect(contentsOf(accounts, startOf(accounts))).toContain('@aws-sdk/lib-dynamodb');
  expect(measure(accounts).start).toBeLessThan(500 * 1024);
  expect(measure(accounts).total).toBeLessThan(700 * 1024);
});

test('a server that only answers requests loads nothing of accounts', () => {
  const atStart = contentsOf(server, startOf(server));
  expect(atStart).toContain('lambda/gateway.ts');
  const ofAccounts = /lib-dynamodb|^ox$|openid-client|^lambda\/(stores|accounts\/accounts)/;
  expect(atStart.filter((name) => ofAccounts.test(name))).toEqual([]);
  expect(contentsOf(server).filter((name) => ofAccounts.test(name))).toContain('ox');
});

test('the pages are beside it, file by file as in the sources, with the generated ones', async () => {
  const written = await contents(join(import.meta.dirname, '../../lambda/accounts/pages'));
  const made = Object.fromEntries(await makePages());
  expect(Object.keys(made)).toEqual(['docs/index.html', 'docs/openapi.json']);
  expect(await contents(join(folder, 'accounts/pages'))).toEqual({ ...written, ...made });
});

test('loads no second HTTP client with the gateway, nor with the server', async () => {
  for (const [built, place] of [
    [gateway, outdir],
    [server, join(folder, 'server')],
  ] as const) {
    const files = [...startOf(built)].map((path) => readFile(join(place, basename(path)), 'utf8'));
    const code = (await Promise.all(files)).join('\n');
    expect(code).toContain('process.getBuiltinModule("node:http")');
    // Importing one of Node's modules would evaluate all of it.
    expect(code).not.toMatch(/\b(from|import)\s*\(?"(node:|https?")/);
  }
});

test('reads only those exports of Node’s modules that are used', async () => {
  const entry = join(folder, 'entry.ts');
  const built = join(folder, 'using-node');
  await writeFile(entry, "import { isIP } from 'node:net'; export const version = isIP('::1');");
  await bundle(entry, built);
  const looked: PropertyKey[] = [];
  const net = new Proxy(process.getBuiltinModule('node:net'), {
    get(target, name) {
      looked.push(name);
      return Reflect.get(target, name);
    },
    ownKeys(target) {
      looked.push('all names');
      return Reflect.ownKeys(target);
    },
  });
  using _ = jest.spyOn(process, 'getBuiltinModule').mockReturnValue(net);
  expect(await import(join(built, 'index.mjs'))).toMatchObject({ version: 6 });
  expect(looked).toEqual(['isIP']);
});

test('a start reads one file besides the entry, however many chunks are loaded lazily', () => {
  expect(startOf(gateway).size).toBe(2);
});

test('gives the same bytes for the same sources, whatever the target folder', async () => {
  const second = join(folder, 'deeper', 'second');
  await bundle('lambda/index.ts', second);
  expect(await contents(second)).toEqual(await contents(outdir));
});

test('removes the files of an older build', async () => {
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
