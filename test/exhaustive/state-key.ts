import type { Item } from '../../lambda/tables/table.ts';
import { tokenPrefixes, viewOfCall } from './actor.ts';
import type { EnvironmentState, WorldState } from './world.ts';

/** Caches a function of immutable objects. */
export function remembering<K extends object, V>(find: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const found = known.get(key) ?? find(key);
    known.set(key, found);
    return found;
  };
}

export const textOf = remembering((value: object) => JSON.stringify(value));

const over: string = 'over';

/** What of an environment makes a difference to what it does next. */
export function viewOf({ actor, late, applied, settlements, faults }: Omit<EnvironmentState, 'view'>): string {
  const waits = actor && (actor.call || actor.isAsleep);
  if (actor && !waits && late.length === 0) return over;
  const told = actor?.told.map(({ kind }) => kind).sort();
  const next = waits && [actor.isAsleep, actor.memory, faults > 0];
  return [told, applied, settlements, next, late.map(viewOfCall)].join(';');
}

/** An item, whose key is one of its attributes, in lines with one token at most. */
const linesOf = remembering((item: Item) =>
  Object.entries(item).flatMap(([name, { S, N = S, BS }]) => BS?.map((token) => `${name} ${token}`) ?? `${name} ${N}`),
);
const anyToken = new RegExp(tokenPrefixes.join('|'));

/**
 * A state without what makes no difference: the order of identical environments, and the names of finished ones. `kinds` are the
 * numbers of the environments' plans.
 */
export function keyOf(kinds: readonly number[], { items, environments, timePassed, faultsLeft }: WorldState): string {
  const names = environments.map(({ view }, index) => (view === over ? over : `${kinds[index]} ${view}`));
  const order = names.map((name, index) => `${name} ${index}`).sort();
  const named = (line: string) =>
    line.replace(anyToken, (prefix) => {
      const index = tokenPrefixes.indexOf(prefix);
      return names[index] === over ? over : String(order.indexOf(`${names[index]} ${index}`));
    });
  const shown = Object.values(items).flatMap(linesOf).map(named).sort();
  return [...shown, timePassed, faultsLeft, ...names.sort()].join('|');
}
