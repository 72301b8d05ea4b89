import { isObject } from '../../lambda/settings/json.ts';

export interface Resource {
  readonly Type: string;
  readonly Properties?: Tree;
  readonly Metadata?: Tree;
}

/** A template, with the properties of its stack that are outside it. */
export interface Template {
  readonly Resources?: Readonly<Record<string, Resource>>;
  readonly Outputs?: Tree;
  readonly Stack?: { readonly name: string; readonly terminationProtection: boolean; readonly tags: unknown };
}

export type Tree = Readonly<Record<string, unknown>>;

/** Construct paths, such as `Tables/Keys`, by logical id. */
export const namesOf = remember(({ Resources = {} }: Template): Readonly<Record<string, string>> => {
  const entries = Object.entries(Resources).map(([id, { Metadata }]) => {
    const path = String(Metadata?.['aws:cdk:path'] ?? id);
    return [id, path.replace(/^[^/]+\//, '').replace(/\/(Resource|Default)$/, '')];
  });
  return Object.fromEntries(entries);
});

/**
 * A resource or another part of a template as one tree: its properties, and the attributes that tell CloudFormation what to do
 * with it.
 */
export interface Part {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly tree: Tree;
}

/** All parts of a template: resources, outputs, the stack itself, and the rest. */
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

/** Without the CDK's metadata, which is not deployed. */
const treeOf = remember(({ Type: _type, Metadata: _metadata, Properties, ...attributes }: Resource): Tree => {
  return { ...attributes, ...Properties };
});

/** Memoizes a function of an object. Templates and their parts are immutable. */
export function remember<From extends object, To>(derive: (from: From) => To): (from: From) => To {
  const known = new WeakMap<From, To>();
  return (from) => {
    // A broken template may have a string where an object belongs.
    if (typeof from !== 'object') return derive(from);
    const value = known.get(from) ?? derive(from);
    known.set(from, value);
    return value;
  };
}

/** An object, other than a list or a CloudFormation reference (`Ref`, `Fn::…`). */
export function isTree(value: unknown): value is Tree {
  if (!isObject(value)) return false;
  const [name = '', ...others] = Object.keys(value);
  return others.length > 0 || !(name === 'Ref' || name.startsWith('Fn::'));
}

/**
 * The values at a path such as `Replicas[].Region`. `[]` stands for every element of a list, and `*` for any letters of a name. A
 * missing name gives undefined, and an empty path the whole tree.
 */
export function valuesAt(tree: Tree, place: string): readonly unknown[] {
  const found = placesIn(tree);
  const known = found.get(place);
  if (known) return known;
  const steps = place === '' ? [] : place.replaceAll('[]', '.[]').split('.');
  const values = steps.reduce<unknown[]>((all, step) => all.flatMap((value) => follow(value, step)), [tree]);
  found.set(place, values);
  return values;
}

const placesIn = remember((_tree: Tree) => new Map<string, readonly unknown[]>());

function follow(value: unknown, step: string): unknown[] {
  if (step === '[]') return Array.isArray(value) ? value : [];
  if (!isTree(value)) return [undefined];
  if (!step.includes('*')) return [value[step]];
  const pattern = new RegExp(`^${step.replaceAll('*', '.*')}$`);
  return Object.keys(value).flatMap((name) => (pattern.test(name) ? [value[name]] : []));
}

/** Whether a path such as `Replicas[0].Tags` is at or below the place. */
export function isWithin(path: string, place: string): boolean {
  const pattern = place.replace(/[[\]]/g, '\\$&').replaceAll('.', '\\.').replaceAll('*', '[^.]*');
  return place === '' || new RegExp(`^${pattern}($|[.[ ])`).test(path.replace(/\[\d+\]/g, '[]'));
}
