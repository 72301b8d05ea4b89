/** In bytes. What a shorter stream leaves to V8 is little, whoever reads it. */
export const longStream = 262_144;

let holders = 0;

/**
 * Has V8 keep its space for young objects as it is, until what is returned is called. V8 doubles that space for good once as much
 * as it holds has outlived collections, which in a long stream is a matter of time.
 */
export function holdYoungSpace(): () => void {
  if (holders++ === 0) setGrowth(1);
  return () => {
    if (--holders === 0) setGrowth(2);
  };
}

/** V8 reads this factor whenever it is about to enlarge the space, also after its start, where it takes no less than 2. */
const setGrowth = (factor: 1 | 2) =>
  process.getBuiltinModule('node:v8').setFlagsFromString(`--semi-space-growth-factor=${factor}`);
