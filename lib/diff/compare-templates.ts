import { diffTemplate, ResourceImpact } from '@aws-cdk/cloudformation-diff';
import { type Change, listChanges } from './list-changes.ts';
import { isPolicy } from './permissions.ts';
import { namesOf, type Resource, type Template } from './template.ts';

export interface ResourceChange {
  readonly id: string;
  /** Where the construct stands in the stack, such as `Tables/Keys`. */
  readonly name: string;
  readonly type: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** Whether the thing itself is made anew, under another physical name: certainly, or perhaps. */
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

/** What would become of a stack that was deployed from the one template when the other is deployed. */
export function compareTemplates(before: Template, after: Template): Comparison {
  const difference = diffTemplate(things(before), things(after));
  const names = { ...namesOf(before), ...namesOf(after) };
  const ids = new Set([...Object.keys(before.Resources ?? {}), ...Object.keys(after.Resources ?? {})]);
  const replaced = difference.resources.changes;
  const resources = [...ids].flatMap((id): ResourceChange[] => {
    const [old, current] = [before.Resources?.[id], after.Resources?.[id]];
    const changes = listResourceChanges(old, current);
    if (changes.length === 0) return [];
    return [
      {
        id,
        name: names[id] ?? id,
        type: current?.Type ?? old?.Type ?? '',
        kind: old === undefined ? 'added' : current === undefined ? 'removed' : 'changed',
        replaced: replacements[replaced[id]?.changeImpact ?? ''] ?? 'no',
        changes,
      },
    ];
  });
  const others = listChanges({ ...before, Resources: undefined }, { ...after, Resources: undefined });
  return { before, after, resources, others };
}

const replacements: Readonly<Record<string, ResourceChange['replaced']>> = {
  [ResourceImpact.WILL_REPLACE]: 'yes',
  [ResourceImpact.MAY_REPLACE]: 'maybe',
};

/** What the CDK notes about a resource is nothing that is deployed. */
function listResourceChanges(before: Resource | undefined, after: Resource | undefined): Change[] {
  if (before === undefined || after === undefined) return [{ path: '', before, after }];
  const { Metadata: _before, Properties: oldProperties, ...oldRest } = before;
  const { Metadata: _after, Properties: newProperties, ...newRest } = after;
  return [...listChanges(oldProperties ?? {}, newProperties ?? {}), ...listChanges(oldRest, newRest)];
}

/** What can be replaced: a policy is compared by what it says, and a broken one would stop the comparison. */
function things({ Resources = {} }: Template): Template {
  return { Resources: Object.fromEntries(Object.entries(Resources).filter(([, { Type }]) => !isPolicy(Type))) };
}
