import type { KeyObject } from 'node:crypto';
import type { Dialect } from '../dialects/dialect.ts';
import { loadOnce } from '../load-once.ts';
import type { Prepare } from './request.ts';

/** Few deployments need it. It is read once. */
export const loadPreparing = loadOnce(() => import('./prepare.ts'));

/** `dialects`: those into which requests are translated. */
export const createPrepare =
  (dialects: readonly Dialect[], readSubkey: (label: string) => Promise<KeyObject>): Prepare =>
  async (outgoing, upstream) =>
    (await loadPreparing()).prepare(outgoing, upstream, { dialects, sealKey: await readSubkey('seals') });
