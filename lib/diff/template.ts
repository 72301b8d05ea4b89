import { remember } from './remember.ts';

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
