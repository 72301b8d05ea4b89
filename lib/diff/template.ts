export interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

/** A template, with what CloudFormation is told about the stack besides it. */
export interface Template {
  readonly Resources?: Readonly<Record<string, Resource>>;
  readonly Outputs?: Readonly<Record<string, unknown>>;
  readonly Stack?: { readonly name: string; readonly terminationProtection: boolean; readonly tags: unknown };
}

/** The construct of each logical id, by its place in the stack, such as `Tables/Keys`. */
export const namesOf = remember(({ Resources = {} }: Template): Readonly<Record<string, string>> => {
  const entries = Object.entries(Resources).map(([id, { Metadata }]) => {
    const path = String(Metadata?.['aws:cdk:path'] ?? id);
    return [id, path.replace(/^[^/]+\//, '').replace(/\/(Resource|Default)$/, '')];
  });
  return Object.fromEntries(entries);
});

/** A resource or another part of a template as one tree: its properties, and what CloudFormation does with it. */
export interface Part {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly tree: Tree;
}

export type Tree = Readonly<Record<string, unknown>>;

/** Everything that a template says, part by part: resources, outputs, the stack itself, and the rest. */
export const partsOf = remember((template: Template): readonly Part[] => {
  const { Resources = {}, Outputs = {}, Stack, ...rest } = template;
  const names = namesOf(template);
  const resources = Object.entries(Resources).map(([id, resource]) => ({
    id,
    name: names[id] ?? id,
    type: resource.Type,
    tree: treeOf(resource),
  }));
  const others = [
    { id: '(outputs)', name: 'the outputs', type: 'Outputs', tree: Outputs },
    { id: '(stack)', name: 'the stack', type: 'Stack', tree: { ...Stack } },
    { id: '(rest)', name: 'the template', type: 'Template', tree: rest },
  ];
  return [...resources, ...others.filter(({ tree }) => Object.keys(tree).length > 0)];
});

/** Without the CDK's notes, which are not deployed. */
const treeOf = remember(({ Type: _type, Metadata: _metadata, Properties, ...attributes }: Resource): Tree => {
  return { ...attributes, ...Properties };
});

/** The same function, which works out only once what follows from an object: templates and their parts never change. */
export function remember<From extends object, To>(derive: (from: From) => To): (from: From) => To {
  const known = new WeakMap<From, To>();
  return (from) => {
    // A broken template may have a text in an object's place.
    if (typeof from !== 'object') return derive(from);
    const value = known.get(from) ?? derive(from);
    known.set(from, value);
    return value;
  };
}

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
