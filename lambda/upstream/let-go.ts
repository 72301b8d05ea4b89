import type { Readable } from 'node:stream';

const patience = 1_000;

/** Discards a body that is not needed. If it ends soon, its connection is reused; otherwise it is cut. */
export function letGo(body: Readable): void {
  const timer = setTimeout(() => body.destroy(), patience);
  body.once('close', () => clearTimeout(timer));
  body.on('error', () => {});
  body.resume();
}
