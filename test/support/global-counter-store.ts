import { setImmediate } from 'node:timers/promises';
import type { Day } from '../../lambda/budget/time.ts';
import { GatewayError } from '../../lambda/errors.ts';
import { type GlobalCounts, lostAnswer } from '../../lambda/store/counters.ts';

export type Fault = 'answer lost' | 'failing';

/** Global counters in memory. Every response takes a turn of the event loop, so that concurrent requests overlap. */
export function createGlobalCounterStore() {
  const globalCounters = new Map<number, GlobalCounts>();
  const store = { fault: undefined as Fault | undefined, operations: [] as string[], globalCounters };
  const carryOut = async <T>(operation: string, act: () => T): Promise<T> => {
    store.operations.push(operation);
    const { fault } = store;
    if (fault === 'failing') throw new GatewayError('service_unavailable', 'down');
    const result = act();
    await setImmediate();
    if (fault) throw new GatewayError('service_unavailable', 'lost', { reason: lostAnswer });
    return result;
  };
  const countsOf = (period: number): GlobalCounts => globalCounters.get(period) ?? { requests: 0, guests: 0, spent: 0 };
  return Object.assign(store, {
    add: ({ period }: Day, amounts: Partial<GlobalCounts>, most: Partial<GlobalCounts> = {}) =>
      carryOut('write', () => {
        const before = countsOf(period);
        const names = ['requests', 'guests', 'spent'] as const;
        if (names.some((name) => before[name] >= (most[name] ?? Number.POSITIVE_INFINITY)))
          return { added: false, counts: before };
        const counts = { ...before };
        for (const name of names) counts[name] += amounts[name] ?? 0;
        globalCounters.set(period, counts);
        return { added: true, counts };
      }),
    read: (period: number) => carryOut('read', () => countsOf(period)),
  });
}
