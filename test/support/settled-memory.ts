import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

function readMemory(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The memory in use, in bytes. Buffers are freed a moment after they were collected. */
export async function readSettledMemory(): Promise<number> {
  let last = readMemory();
  for (let unchanged = 0; unchanged < 3; ) {
    await setImmediate();
    const memory = readMemory();
    unchanged = memory < last - 100_000 ? 0 : unchanged + 1;
    last = memory;
  }
  return last;
}
