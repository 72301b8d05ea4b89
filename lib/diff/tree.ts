import type { Tree } from './template.ts';

/**
 * The values at a place of a tree, such as `Replicas[].Region`: `[]` stands for every element of a list, `*` for any letters
 * of a name. A missing name counts as undefined; an empty place is the whole tree.
 */
export function valuesAt(tree: unknown, place: string): unknown[] {
  return stepsOf(place).reduce<unknown[]>((values, step) => values.flatMap((value) => follow(value, step)), [tree]);
}

/** A copy of the tree without these places, and without what is empty then. */
export function without(tree: Tree, places: readonly string[]): Tree {
  const copy = structuredClone(tree);
  for (const place of places) {
    const steps = stepsOf(place);
    const last = steps.pop();
    const parents = steps.reduce<unknown[]>((values, step) => values.flatMap((value) => follow(value, step)), [copy]);
    for (const parent of parents) remove(parent, last);
  }
  return prune(copy) ?? {};
}

type Step = string;

function stepsOf(place: string): Step[] {
  return place === '' ? [] : place.replaceAll('[]', '.[]').split('.');
}

function follow(value: unknown, step: Step): unknown[] {
  if (step === '[]') return Array.isArray(value) ? value : [];
  if (!isObject(value)) return [undefined];
  return step.includes('*') ? matching(value, step).map((name) => value[name]) : [value[step]];
}

function remove(parent: unknown, step: Step | undefined): void {
  if (step === '[]' && Array.isArray(parent)) parent.length = 0;
  if (!isObject(parent)) return;
  for (const name of step === undefined ? Object.keys(parent) : matching(parent, step)) {
    delete (parent as Record<string, unknown>)[name];
  }
}

function matching(tree: Tree, step: Step): string[] {
  const pattern = new RegExp(`^${step.replaceAll('*', '.*')}$`);
  return Object.keys(tree).filter((name) => pattern.test(name));
}

function prune<T>(value: T): T | undefined {
  if (Array.isArray(value)) return value.length > 0 ? (value.map((one) => prune(one) ?? null) as T) : undefined;
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, one]) => {
    const pruned = prune(one);
    return pruned === undefined ? [] : [[name, pruned]];
  });
  return kept.length > 0 ? (Object.fromEntries(kept) as T) : undefined;
}

function isObject(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
