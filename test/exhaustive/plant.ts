import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { build, type Plugin } from 'esbuild';
import type { Subject } from './actor.ts';

/** The real code, with a piece of it replaced, which must be there once. */
export async function plant(code: string, instead: string): Promise<Subject> {
  let places = 0;
  const setup: Plugin['setup'] = ({ onLoad }) =>
    onLoad(
      {
        filter:
          /lambda\/(store\/(dynamodb|sqlite)\/(write-once|counters|reservation)|quota\/quota|budget\/prices)\.ts$/,
      },
      async ({ path }) => {
        const text = await readFile(path, 'utf8');
        places += text.split(code).length - 1;
        return { contents: text.replace(code, () => instead), loader: 'ts' };
      },
    );
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'subject.ts')],
    plugins: [{ name: 'plant', setup }],
    ...{ bundle: true, platform: 'node', format: 'esm', write: false },
  });
  expect(places).toBe(1);
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0]?.contents ?? '').toString('base64')}`);
}
