import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

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
  /** What has grown: the heap by more than so many MiB, or any kind of resource. */
  growth(before: Holdings, after: Holdings, heap: number): string[];
}

/** Watches the memory and the open handles of this process. */
export function createWatch(): Watch {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  return {
    async read() {
      // What is freed in one round may let go of more in the next.
      for (let round = 0; round < 5; round += 1) {
        await new Promise((resolve) => setTimeout(resolve, 20));
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
    growth: (before, after, heap) => {
      const grown = Object.entries(after.resources)
        .filter(([name, count]) => count > (before.resources[name] ?? 0))
        .map(([name, count]) => `${name}: ${count}, before ${before.resources[name] ?? 0}`);
      if (after.heap > before.heap + heap) grown.push(`heap: ${after.heap} MiB, before ${before.heap}`);
      return grown;
    },
  };
}
