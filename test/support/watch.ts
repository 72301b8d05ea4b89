import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { turnEventLoop } from './wait-until.ts';

type Resources = Readonly<Record<string, number>>;

/** Watches this process's memory and open handles. */
export function createWatch() {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  /** The heap in MiB and the open resources (sockets, timers …), after garbage collection. */
  async function read(): Promise<{ readonly heap: number; readonly resources: Resources }> {
    // Freeing some objects may release more in the next round.
    for (let round = 0; round < 3; round += 1) {
      await turnEventLoop(20);
      collect();
    }
    const resources: Record<string, number> = {};
    for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
    return { heap: process.memoryUsage().heapUsed / 2 ** 20, resources };
  }
  type Holdings = Awaited<ReturnType<typeof read>>;
  /** What has grown: the heap by more than this many MiB, or a kind of resource by more than allowed. */
  const growth = (before: Holdings, after: Holdings, heap: number, allowed: Resources = {}): string[] => [
    ...Object.entries(after.resources)
      .filter(([name, count]) => count > (before.resources[name] ?? 0) + (allowed[name] ?? 0))
      .map(([name, count]) => `${name}: ${count}, before ${before.resources[name] ?? 0}`),
    ...(after.heap > before.heap + heap ? [`heap: ${after.heap} MiB, before ${before.heap}`] : []),
  ];
  return {
    read,
    /** The growth so far. Waits up to ten seconds for it to vanish, because releasing resources may take a moment. */
    async growthSince(before: Holdings, heap: number, allowed?: Resources) {
      const end = performance.now() + 10_000;
      for (;;) {
        const grown = growth(before, await read(), heap, allowed);
        if (grown.length === 0 || performance.now() > end) return grown;
      }
    },
  };
}
