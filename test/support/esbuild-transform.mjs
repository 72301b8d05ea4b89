// Jest compiles each TypeScript file through esbuild: types are checked by tsc, not here.
import { createHash } from 'node:crypto';
import { transformSync, version } from 'esbuild';

const options = { loader: 'ts', format: 'esm', target: 'node24', sourcemap: 'inline' };

// What `npm run mutate` plants: the file itself stays as it is.
const planted = JSON.parse(process.env.PLANTED_DEFECT ?? '{}');
const read = (source, path) =>
  planted.path !== undefined && path.endsWith(`/${planted.path}`)
    ? source.slice(0, planted.start) + planted.text + source.slice(planted.end)
    : source;

export default {
  process: (source, path) => ({ code: transformSync(read(source, path), { ...options, sourcefile: path }).code }),
  getCacheKey: (source, path) =>
    createHash('sha256')
      .update(version)
      .update(JSON.stringify(options))
      .update(path)
      .update(read(source, path))
      .digest('hex'),
};
