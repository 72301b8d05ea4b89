import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

export type Subject = typeof import('./subject.ts');

/** A piece of the gateway's code, and what stands there instead. */
export interface Defect {
  readonly code: string;
  readonly instead: string;
}

const standIns = join(import.meta.dirname, 'stand-ins');
const root = join(import.meta.dirname, '../..');
/** What the simulation writes. */
export const outputs = join(root, '.jest-cache/simulation');

/** Modules of Node whose outcome may vary. */
const varying = /^node:(timers\/promises|crypto|http|https|net|tls|zlib|worker_threads)$/;

/** Bundles the gateway's own code with the world in place of what varies, and perhaps a defect in it. */
export async function loadSubject(defect?: Defect): Promise<Subject> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'subject.ts')],
    inject: [join(standIns, 'globals.ts')],
    plugins: [replaceNode, watchMemory, leaveOut, ...(defect ? [plant(defect)] : [])],
    ...{ bundle: true, platform: 'node', format: 'esm', write: false, absWorkingDir: root },
  });
  const code = outputFiles[0]?.contents ?? new Uint8Array();
  const file = join(outputs, `${createHash('sha256').update(code).digest('hex').slice(0, 16)}.mjs`);
  await mkdir(outputs, { recursive: true });
  await writeFile(file, code);
  return import(pathToFileURL(file).href);
}

const replaceNode: Plugin = {
  name: 'replace node',
  setup({ onResolve }) {
    onResolve({ filter: varying }, ({ path, importer }) =>
      importer.startsWith(standIns)
        ? { path, external: true }
        : { path: join(standIns, `${path.slice('node:'.length).replace('/', '-')}.ts`) },
    );
  },
};

/** What a request holds of the memory for bodies shows nowhere else. */
const watchMemory: Plugin = {
  name: 'watch memory',
  setup({ onResolve }) {
    onResolve({ filter: /\/memory-budget\.ts$/ }, ({ importer }) =>
      importer.startsWith(standIns) ? undefined : { path: join(standIns, 'memory-budget.ts') },
    );
  },
};

/** What only deployments with more in them load. */
const leaveOut: Plugin = {
  name: 'leave out',
  setup({ onResolve }) {
    onResolve({ filter: /\/(accounts\/accounts|report\/spans)\.ts$/ }, ({ path }) => ({ path, external: true }));
  },
};

/** The code must stand at one place, in whichever file. */
const plant = ({ code, instead }: Defect): Plugin => ({
  name: 'plant a defect',
  setup({ onLoad, onEnd }) {
    let places = 0;
    onLoad({ filter: /\/lambda\/.*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      places += text.split(code).length - 1;
      return { contents: text.replace(code, () => instead), loader: 'ts' };
    });
    onEnd(() => {
      if (places !== 1) throw new Error(`the gateway has this code ${places} times: ${code}`);
    });
  },
});
