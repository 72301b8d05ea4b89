import { setImmediate } from 'node:timers/promises';
import { GatewayError } from '../../lambda/errors.ts';
import { lostAnswer } from '../../lambda/quota/counter-store.ts';

export type Fault = 'answer lost' | 'failing';

/** A store in memory, whose answers come later than others may ask. */
export function createTallyStore() {
  const sums = new Map<string, number>();
  const store = { fault: undefined as Fault | undefined, operations: [] as string[], sums };
  const carryOut = async (operation: string, act: () => number | undefined) => {
    store.operations.push(operation);
    const { fault } = store;
    if (fault === 'failing') throw new GatewayError('service_unavailable', 'down');
    const result = act();
    await setImmediate();
    if (fault) throw new GatewayError('service_unavailable', 'lost', { reason: lostAnswer });
    return result;
  };
  const sumOf = (item: string) => sums.get(item) ?? 0;
  return Object.assign(store, {
    add: (item: string, amount: number, _: number, most = Number.POSITIVE_INFINITY) =>
      carryOut('write', () => {
        if (sumOf(item) >= most) return undefined;
        sums.set(item, sumOf(item) + amount);
        return sumOf(item);
      }),
    read: async (item: string) => (await carryOut('read', () => sumOf(item))) ?? 0,
  });
}
