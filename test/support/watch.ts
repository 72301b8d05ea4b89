import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { turnEventLoop } from './wait-until.ts';

/** The resources that a process holds. */
export interface Holdings {
  /** After a collection of garbage, in MiB. */
  readonly heap: number;
  /** What keeps the process alive, by kind: sockets, timers … */
  readonly resources: Readonly<Record<string, number>>;
}

export interface Watch {
  /** Reads them after closing connections have gone. */
  read(): Promise<Holdings>;
  describe(holdings: Holdings): string;
  /** What has grown: the heap by more than so many MiB, or a kind of resource by more than allowed. */
  growth(before: Holdings, after: Holdings, heap: number, allowed?: Readonly<Record<string, number>>): string[];
  /** The growth until now. Waits up to ten seconds for it to vanish, as releasing resources may take a moment. */
  growthSince(before: Holdings, heap: number, allowed?: Readonly<Record<string, number>>): Promise<string[]>;
}

/** Watches the memory and the open handles of this process. */
export function createWatch(): Watch {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const watch: Watch = {
    async read() {
      // What one round frees may release more in the next.
      for (let round = 0; round < 5; round += 1) {
        await turnEventLoop(20);
        collect();
      }
      const resources: Record<string, number> = {};
      for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
      return { heap: process.memoryUsage().heapUsed / 2 ** 20, resources };
    },
    describe: ({ heap, resources }) => {
      const held = Object.entries(resources).map(([name, count]) => `${count} ${name}`);
      return `heap ${heap.toFixed(1)} MiB, ${held.join(', ') || 'no handles'}`;
    },
    growth: (before, after, heap, allowed = {}) => {
      const grown = Object.entries(after.resources)
        .filter(([name, count]) => count > (before.resources[name] ?? 0) + (allowed[name] ?? 0))
        .map(([name, count]) => `${name}: ${count}, before ${before.resources[name] ?? 0}`);
      if (after.heap > before.heap + heap) grown.push(`heap: ${after.heap} MiB, before ${before.heap}`);
      return grown;
    },
    async growthSince(before, heap, allowed) {
      const end = performance.now() + 10_000;
      for (;;) {
        const grown = watch.growth(before, await watch.read(), heap, allowed);
        if (grown.length === 0 || performance.now() > end) return grown;
      }
    },
  };
  return watch;
}
