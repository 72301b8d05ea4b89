import { diffTemplate, ResourceImpact } from '@aws-cdk/cloudformation-diff';
import { isPolicy } from './permissions.ts';
import { isTree, namesOf, type Resource, type Template } from './template.ts';

/** One changed value; undefined if there was none before, or is none now. */
export interface Change {
  /** Such as `Environment.Variables.GUEST_LIMIT`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Every leaf that differs between two trees. A CloudFormation reference (`Ref`, `Fn::…`) counts as one value. */
export function listChanges(before: unknown, after: unknown, path = ''): Change[] {
  if (before === after || JSON.stringify(before) === JSON.stringify(after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return listElementChanges(before, after, path);
  if (!isTree(before) || !isTree(after)) return [{ path, before, after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => listChanges(before[name], after[name], path ? `${path}.${name}` : name));
}

/** Elements that are in both lists don't count as changed, even if they moved. The others are compared in pairs. */
function listElementChanges(before: readonly unknown[], after: readonly unknown[], path: string): Change[] {
  const gone = without(before, after);
  const come = without(after, before);
  if (gone.length === 0 && come.length === 0) return [{ path: `${path} (order)`, before, after }];
  if (gone.length === come.length) {
    return come.flatMap((value, index) => listChanges(gone[index], value, `${path}[${after.indexOf(value)}]`));
  }
  return [
    ...gone.map((value) => ({ path: `${path}[]`, before: value, after: undefined })),
    ...come.map((value) => ({ path: `${path}[]`, before: undefined, after: value })),
  ];
}

function without(values: readonly unknown[], others: readonly unknown[]): unknown[] {
  const left = others.map((other) => JSON.stringify(other));
  return values.filter((value) => {
    const index = left.indexOf(JSON.stringify(value));
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

export interface ResourceChange {
  readonly id: string;
  /** The construct's path in the stack, such as `Tables/Keys`. */
  readonly name: string;
  readonly type: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** Whether CloudFormation replaces the resource with a new one, under another physical name. */
  readonly replaced: 'yes' | 'maybe' | 'no';
  readonly changes: readonly Change[];
}

export interface Comparison {
  readonly before: Template;
  readonly after: Template;
  readonly resources: readonly ResourceChange[];
  /** Outputs, parameters, the stack's own properties. */
  readonly others: readonly Change[];
}

/** The effect of deploying `after` on a stack that was deployed from `before`. */
export function compareTemplates(before: Template, after: Template): Comparison {
  const names = { ...namesOf(before), ...namesOf(after) };
  const ids = new Set([...Object.keys(before.Resources ?? {}), ...Object.keys(after.Resources ?? {})]);
  const changed = [...ids].flatMap((id): Omit<ResourceChange, 'replaced'>[] => {
    const [old, current] = [before.Resources?.[id], after.Resources?.[id]];
    const changes = listResourceChanges(old, current);
    if (changes.length === 0) return [];
    const kind = old === undefined ? 'added' : current === undefined ? 'removed' : 'changed';
    return [{ id, name: names[id] ?? id, type: current?.Type ?? old?.Type ?? '', kind, changes }];
  });
  const among = new Set(changed.map(({ id }) => id));
  const { changes: impacts } = diffTemplate(things(before, among), things(after, among)).resources;
  const resources = changed.map((change) => {
    return { ...change, replaced: replacements[impacts[change.id]?.changeImpact ?? ''] ?? ('no' as const) };
  });
  const others = listChanges({ ...before, Resources: undefined }, { ...after, Resources: undefined });
  return { before, after, resources, others };
}

const replacements: Readonly<Record<string, ResourceChange['replaced']>> = {
  [ResourceImpact.WILL_REPLACE]: 'yes',
  [ResourceImpact.MAY_REPLACE]: 'maybe',
};

/** Without the CDK's metadata, which is not deployed. */
function listResourceChanges(before: Resource | undefined, after: Resource | undefined): Change[] {
  if (before === undefined || after === undefined) return [{ path: '', before, after }];
  const { Metadata: _before, Properties: oldProperties, ...oldRest } = before;
  const { Metadata: _after, Properties: newProperties, ...newRest } = after;
  return [...listChanges(oldProperties ?? {}, newProperties ?? {}), ...listChanges(oldRest, newRest)];
}

/** The resources that can be replaced. Policies are compared by content, and a broken one would make this comparison throw. */
function things({ Resources = {} }: Template, only: ReadonlySet<string>): Template {
  const wanted = Object.entries(Resources).filter(([id, { Type }]) => !isPolicy(Type) && only.has(id));
  return { Resources: Object.fromEntries(wanted) };
}
