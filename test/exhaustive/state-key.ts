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

/*
 * A state without what makes no difference: the order of identical environments, the names of finished ones, and past
 * events that do not affect what an environment does next.
 */
export function keyOf(plans: readonly string[], { items, environments, timePassed, faultsLeft }: WorldState): string {
  const seen = environments.map((one, index) => `${plans.indexOf(plans[index] ?? '')} ${viewOf(one)}`);
  const order = seen.map((_, index) => index).sort((a, b) => ((seen[a] ?? '') < (seen[b] ?? '') ? -1 : 1));
  const places = order.map((_, index) => (seen[index]?.endsWith(over) ? '' : order.indexOf(index))).join();
  const shown = Object.values(items).map((item) => viewsOf(item)(places));
  return [...shown.sort(), timePassed, faultsLeft, ...order.map((index) => seen[index])].join();
}

const over = ' over';

const viewOf = remembering(({ actor, late, applied, settlements, faults }: EnvironmentState): string => {
  const waits = actor && (actor.call || actor.isAsleep);
  if (actor && !waits && late.length === 0) return over;
  const told = actor?.told.map(({ kind }) => kind).sort();
  const next = waits && [actor.isAsleep, actor.memory, faults > 0];
  const calls = late.map(viewOfCall);
  return [told, applied, settlements, next, calls].join(';');
});

/** An item's key is one of its attributes. Tokens are named by the places of their environments. */
const viewsOf = remembering((item: Item) => {
  const known = new Map<string, string>();
  const viewWith = (places: string) => {
    const split = places.split(',');
    const named = (token: string) => `${split[tokenPrefixes.indexOf(token.slice(0, 4))] ?? ''}${token.slice(4)}`;
    const values = Object.entries(item).map(([name, { S, N = S, BS }]) =>
      [name.replace(/(?<=\.).*/, named), N ?? BS?.map(named).sort()].join(),
    );
    return values.sort().join();
  };
  return (places: string): string => {
    const view = known.get(places) ?? viewWith(places);
    known.set(places, view);
    return view;
  };
});
