// Jest compiles TypeScript with esbuild. Types are checked by tsc, not here.
import { createHash } from 'node:crypto';
import { transformSync, version } from 'esbuild';

const options = { loader: 'ts', format: 'esm', target: 'node24', sourcemap: 'inline' };

export default {
  process: (source, path) => ({ code: transformSync(source, { ...options, sourcefile: path }).code }),
  getCacheKey: (source, path) =>
    createHash('sha256').update(version).update(JSON.stringify(options)).update(path).update(source).digest('hex'),
};
