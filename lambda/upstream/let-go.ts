import type { Readable } from 'node:stream';

const patience = 1_000;

/** Lets go of a body that nobody needs: one that ends soon leaves its connection for the next request, any other is cut. */
export function letGo(body: Readable): void {
  const timer = setTimeout(() => body.destroy(), patience);
  body.once('close', () => clearTimeout(timer));
  body.on('error', () => {});
  body.resume();
}
