import type { Item } from '../../lambda/store/dynamodb/table.ts';
import { viewOfCall } from './actor.ts';
import { tokenPrefixes } from './request.ts';
import type { EnvironmentState, WorldState } from './world.ts';

/** Memoizes a function of immutable objects. */
export function memoize<K extends object, V>(find: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const found = find(key);
    known.set(key, found);
    return found;
  };
}

export const textOf = memoize((value: object) => JSON.stringify(value));

const numbers = new Map<string, number>();
/** A short name for a long text, so that states compare quickly. */
function numberOf(text: string): number {
  const number = numbers.get(text) ?? numbers.size;
  numbers.set(text, number);
  return number;
}

const over = numberOf('over');

/** Everything in an environment that can affect what it does next. */
function viewOf({ actor, late, applied, settlements, faults }: EnvironmentState): number {
  const waits = actor && (actor.call || actor.isAsleep);
  if (actor && !waits && late.length === 0) return over;
  const next = waits && [actor.isAsleep, actor.memory, faults > 0];
  return numberOf(
    [actor?.told.map(({ kind }) => kind).sort(), applied, settlements, next, late.map(viewOfCall)].join(';'),
  );
}

const anyToken = new RegExp(tokenPrefixes.join('|'), 'g');

/** What an item shows, with its tokens named after their environments. */
const shownOf = memoize((item: Item) => {
  const lines = Object.entries(item).flatMap(
    ([name, { S, N = S, BS }]) => BS?.map((token) => `${name} ${token}`) ?? `${name} ${N}`,
  );
  const known = new Map<string, number>();
  return (names: readonly string[]): number => {
    const all = names.join();
    const named = (line: string) => line.replace(anyToken, (prefix) => names[tokenPrefixes.indexOf(prefix)] ?? '');
    const shown = known.get(all) ?? numberOf(lines.map(named).sort().join('|'));
    known.set(all, shown);
    return shown;
  };
});

/**
 * A key without irrelevant differences: the order of identical environments, and the names of finished ones. `kinds` numbers the
 * environments' plans.
 */
export function keyOf(kinds: readonly number[], { item, environments, timePassed, faultsLeft }: WorldState): string {
  const views = environments.map((environment, index) => {
    environment.view ??= viewOf(environment);
    const { view } = environment;
    return view === over ? over : view * kinds.length + (kinds[index] ?? 0);
  });
  const order = views.map((_, index) => index).sort((a, b) => (views[a] ?? 0) - (views[b] ?? 0) || a - b);
  const names = views.map((view, index) => (view === over ? 'over' : String(order.indexOf(index))));
  return [item && shownOf(item)(names), timePassed, faultsLeft, ...views.sort()].join(' ');
}
