import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type OutputFile, type Plugin } from 'esbuild';
import { makePages } from './reference/render-reference.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Replaces imports of Node's modules with `process.getBuiltinModule`, and reads only the exports that are used. An ES module's
 * `import` evaluates every export of a builtin, which for `node:http` includes a second HTTP client of seventy modules that
 * nobody here uses.
 */
const lazyNode: Plugin = {
  name: 'lazy-node',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: 'node' }));
    onLoad({ filter: /^/, namespace: 'node' }, ({ path }) => {
      const load = `process.getBuiltinModule('${path}')`;
      const names = Object.keys(process.getBuiltinModule(path) ?? {}).filter((name) => name !== 'default');
      const lines = names.map((name) => `export const ${name} = /* @__PURE__ */ fromNode('${name}');`);
      return {
        contents: `const fromNode = (name) => ${load}[name]; ${lines.join(' ')} export default /* @__PURE__ */ ${load};`,
      };
    });
  },
};

/**
 * Keeps everything that a start needs in one file, by having each lazily loaded chunk import the entry. Otherwise esbuild splits
 * shared code into chunks of their own, each of which Node has to find and read.
 */
const startInOneFile = (entry: string): Plugin => ({
  name: 'start-in-one-file',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\./ }, ({ path, kind, resolveDir }) =>
      kind === 'dynamic-import' ? { path: relative(root, resolve(resolveDir, path)), namespace: 'later' } : undefined,
    );
    onLoad({ filter: /^/, namespace: 'later' }, ({ path }) => ({
      contents: `import '${resolve(root, entry)}'; export * from '${resolve(root, path)}';`,
      resolveDir: root,
    }));
  },
});

/**
 * Bundles the function at `entry` into `outdir`: `index.mjs`, its lazily loaded chunks, and their source maps. The build is
 * reproducible, so an unchanged function is not deployed again.
 */
export async function bundle(
  entry: string,
  outdir: string,
  options: Pick<BuildOptions, 'plugins'> = {},
): Promise<Metafile> {
  const { metafile, outputFiles } = await compile(entry, { outExtension: { '.js': '.mjs' }, ...options });
  await writeFiles(outdir, outputFiles);
  return metafile;
}

/**
 * Bundles the HTTP server into `outdir`: the same, under the name that hosts expect, with the pages, and a package.json that
 * marks it as ESM.
 */
export async function bundleServer(outdir: string): Promise<Metafile> {
  // Linked, so that Node's `--enable-source-maps` finds the map on a host.
  const server = await compile('lambda/server.ts', { sourcemap: 'linked' });
  // The entry of its worker threads, which share no chunk with it.
  const worker = await compile('lambda/worker.ts', { sourcemap: 'linked', entryNames: 'worker' });
  const sqlite = await compile('lambda/store/sqlite/worker.ts', { sourcemap: 'linked', entryNames: 'sqlite' });
  // What an operator runs beside it: `node keys.js issue`.
  const commands = await compile(['bin/keys.ts', 'bin/stop.ts', 'bin/resume.ts'], { sourcemap: 'linked' });
  const parts = [server, worker, sqlite, commands];
  await writeFiles(
    outdir,
    parts.flatMap(({ outputFiles }) => outputFiles),
  );
  await writePages(resolve(root, outdir, 'accounts/pages'));
  await writeFile(resolve(root, outdir, 'package.json'), '{ "type": "module" }\n');
  const outputs = Object.assign({}, ...parts.map(({ metafile }) => metafile.outputs));
  return { ...server.metafile, outputs };
}

/** Compiles what starts at one file, as `index`, or several programs that share code. */
function compile(entry: string | string[], options: BuildOptions) {
  return build({
    ...(typeof entry === 'string'
      ? { entryPoints: { index: entry }, plugins: [lazyNode, startInOneFile(entry)] }
      : { entryPoints: entry, plugins: [lazyNode] }),
    chunkNames: 'chunk-[hash]',
    // So that a start only loads what requests need.
    splitting: true,
    // Written beside the code but not deployed to Lambda, where Node would read them at every start. `npm run trace` maps
    // production's stack traces with a build of the same commit.
    sourcemap: 'external',
    ...options,
    absWorkingDir: root,
    // Always bundled as if for this folder: the path from there to the sources goes into the source maps, and so into the chunks'
    // names.
    outdir: 'dist/function',
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    preserveSymlinks: true, // for the same reason: node_modules may be a symlink to another checkout's
    // CommonJS packages `require` Node's modules, and ES modules have no `require`.
    banner: { js: 'const require = process.getBuiltinModule;' },
    mainFields: ['module', 'main'], // the SDK's ESM builds are half the size
    minify: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
}

async function writeFiles(outdir: string, files: readonly OutputFile[]): Promise<void> {
  const folder = resolve(root, outdir);
  await rm(folder, { recursive: true, force: true }); // or old chunks would pile up: their names are content hashes
  await mkdir(folder, { recursive: true });
  await Promise.all(files.map(({ path, contents }) => writeFile(join(folder, basename(path)), contents)));
}

/** Builds the accounts function and its pages into `outdir`. */
export async function bundleAccounts(outdir: string): Promise<Metafile> {
  const metafile = await bundle('lambda/accounts/index.ts', outdir);
  await writePages(resolve(root, outdir, 'pages'));
  return metafile;
}

/** Copies the handwritten pages and generates the others. */
async function writePages(folder: string): Promise<void> {
  await cp(join(root, 'lambda/accounts/pages'), folder, { recursive: true });
  for (const [name, text] of await makePages()) await writeFile(join(folder, name), text);
}

/** The files that every cold start loads: the entry and its static imports. */
export function startOf({ outputs }: Metafile): ReadonlySet<string> {
  const atStart = new Set(Object.keys(outputs).filter((path) => /\/index\.m?js$/.test(path)));
  for (const path of atStart) {
    for (const { path: imported, kind } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && outputs[imported]) atStart.add(imported);
    }
  }
  return atStart;
}

/** Bytes of deployed code: in total, and loaded by every cold start. */
export function measure(metafile: Metafile): { total: number; start: number } {
  const { outputs } = metafile;
  const code = Object.keys(outputs).filter((path) => /\.m?js$/.test(path));
  const sum = (paths: Iterable<string>) => [...paths].reduce((bytes, path) => bytes + (outputs[path]?.bytes ?? 0), 0);
  return { total: sum(code), start: sum(startOf(metafile)) };
}

/** Everything that is built, by its folder in `dist`. */
export const artifacts = {
  gateway: (outdir: string) => bundle('lambda/index.ts', outdir),
  accounts: bundleAccounts,
  canary: (outdir: string) => bundle('lambda/canary/index.ts', outdir),
  server: bundleServer,
} as const;

export type Artifact = keyof typeof artifacts;

if (import.meta.main) {
  const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(0)} KB`;
  const { Argument, Command } = await import('commander');
  const { args: wanted } = new Command('npm run build --')
    .description('Builds into dist/ what is deployed: for a host of your own, that is dist/server.')
    .addArgument(new Argument('[artifact...]', 'only these (default: all)').choices(Object.keys(artifacts)))
    .parse();
  for (const [name, build] of Object.entries(artifacts)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const { total, start } = measure(await build(`dist/${name}`));
    console.log(`dist/${name}: ${kilobytes(total)}, ${kilobytes(start)} of it read at every start`);
  }
}
