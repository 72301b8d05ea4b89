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
export function namesOf({ Resources = {} }: Template): Record<string, string> {
  const entries = Object.entries(Resources).map(([id, { Metadata }]) => {
    const path = String(Metadata?.['aws:cdk:path'] ?? id);
    return [id, path.replace(/^[^/]+\//, '').replace(/\/(Resource|Default)$/, '')];
  });
  return Object.fromEntries(entries);
}

/** A resource or another part of a template as one tree: its properties, and what CloudFormation does with it. */
export interface Part {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly tree: Tree;
}

export type Tree = Readonly<Record<string, unknown>>;

/** Everything that a template says, part by part: resources, outputs, the stack itself, and the rest. */
export function partsOf(template: Template): Part[] {
  const { Resources = {}, Outputs = {}, Stack, ...rest } = template;
  const names = namesOf(template);
  const resources = Object.entries(Resources).map(([id, resource]) => {
    // The CDK's notes about a resource are not deployed.
    const { Type: type, Metadata: _metadata, Properties = {}, ...attributes } = resource;
    return { id, name: names[id] ?? id, type, tree: { ...attributes, ...Properties } };
  });
  const others = [
    { id: '(outputs)', name: 'the outputs', type: 'Outputs', tree: Outputs },
    { id: '(stack)', name: 'the stack', type: 'Stack', tree: { ...Stack } },
    { id: '(rest)', name: 'the template', type: 'Template', tree: rest },
  ];
  return [...resources, ...others.filter(({ tree }) => Object.keys(tree).length > 0)];
}
