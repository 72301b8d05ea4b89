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

const numbers = new Map<string, number>();
/** The same number for the same text: half a million keys of numbers are found faster than as many long texts. */
const numberOf = (text: string): number => {
  const number = numbers.get(text) ?? numbers.size;
  if (number === numbers.size) numbers.set(text, number);
  return number;
};

/*
 * A state without what makes no difference: the order of identical environments, the names of finished ones, and past
 * events that do not affect what an environment does next. `kinds` are the numbers of the environments' plans.
 */
export function keyOf(kinds: readonly number[], { items, environments, timePassed, faultsLeft }: WorldState): string {
  const views = environments.map(({ view }) => view);
  const order = kinds.map((_, index) => index);
  order.sort((a, b) => (kinds[a] ?? 0) - (kinds[b] ?? 0) || (views[a] ?? 0) - (views[b] ?? 0));
  const places = views.map((view, index) => (view === over ? '' : order.indexOf(index))).join();
  const shown = Object.values(items).map((item) => viewsOf(item)(places));
  return [...shown.sort(), timePassed, faultsLeft, ...order.flatMap((index) => [kinds[index], views[index]])].join();
}

const over = numberOf('over');

/** What of an environment makes a difference, as a number. */
export function viewOf({ actor, late, applied, settlements, faults }: Omit<EnvironmentState, 'view'>): number {
  const waits = actor && (actor.call || actor.isAsleep);
  if (actor && !waits && late.length === 0) return over;
  const told = actor?.told.map(({ kind }) => kind).sort();
  const next = waits && [actor.isAsleep, actor.memory, faults > 0];
  const calls = late.map(viewOfCall);
  return numberOf([told, applied, settlements, next, calls].join(';'));
}

/** An item's key is one of its attributes. Tokens are named by the places of their environments. */
const viewsOf = remembering((item: Item) => {
  const known = new Map<string, number>();
  const viewWith = (places: string) => {
    const split = places.split(',');
    const named = (token: string) => `${split[tokenPrefixes.indexOf(token.slice(0, 4))] ?? ''}${token.slice(4)}`;
    const values = Object.entries(item).map(([name, { S, N = S, BS }]) =>
      [name.replace(/(?<=\.).*/, named), N ?? BS?.map(named).sort()].join(),
    );
    return numberOf(values.sort().join());
  };
  return (places: string): number => {
    const view = known.get(places) ?? viewWith(places);
    known.set(places, view);
    return view;
  };
});
