import type { Readable } from 'node:stream';

/** In bytes. What a shorter body leaves to V8 is little, whoever reads it. */
export const longBody = 65_536;

/**
 * Has V8 keep its space for young objects as it is while a long body is read, until what is returned is called. V8 doubles that space
 * for good once as much as it holds has outlived collections, which in a long stream is a matter of time. With many streams at once
 * it would cost all of them a tenth more, so this is for a function, which serves one.
 */
export function holdYoungSpace(body: Readable): () => void {
  let size = 0;
  const isHeld = () => size > longBody;
  const count = (piece: Buffer | string) => {
    size += piece.length;
    if (!isHeld()) return;
    body.off('data', count);
    setGrowth(1);
  };
  body.on('data', count);
  return () => {
    body.off('data', count);
    if (isHeld()) setGrowth(2);
  };
}

/** V8 reads this factor whenever it is about to enlarge the space, also after its start, where it takes no less than 2. */
const setGrowth = (factor: 1 | 2) =>
  process.getBuiltinModule('node:v8').setFlagsFromString(`--semi-space-growth-factor=${factor}`);
