import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { turnEventLoop } from './wait-until.ts';

/** What a process holds on to. */
export interface Holdings {
  /** After a collection of garbage, in MiB. */
  readonly heap: number;
  /** What keeps the process alive, by kind: sockets, timers … */
  readonly resources: Readonly<Record<string, number>>;
}

export interface Watch {
  /** Reads what is held once connections that are being closed have gone. */
  read(): Promise<Holdings>;
  describe(holdings: Holdings): string;
  /** What has grown: the heap by more than so many MiB, or a kind of resource by more than is allowed for it. */
  growth(before: Holdings, after: Holdings, heap: number, allowed?: Readonly<Record<string, number>>): string[];
  /** The same of now, as soon as nothing has grown, else of ten seconds later: what is let go of may take a moment. */
  growthSince(before: Holdings, heap: number, allowed?: Readonly<Record<string, number>>): Promise<string[]>;
}

/** Watches the memory and the open handles of this process. */
export function createWatch(): Watch {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const watch: Watch = {
    async read() {
      // What is freed in one round may let go of more in the next.
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
