import { fullDiff, ResourceImpact, type TemplateDiff } from '@aws-cdk/cloudformation-diff';
import { type Change, listChanges } from './list-changes.ts';

export interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

/** A template, with what CloudFormation is told of the stack beside it. */
export interface Template {
  readonly Resources?: Readonly<Record<string, Resource>>;
  readonly Stack?: { readonly name: string; readonly terminationProtection: boolean; readonly tags: unknown };
}

export interface ResourceChange {
  /** Where the construct stands in the stack, such as `Tables/Keys`. */
  readonly name: string;
  readonly type: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** Whether the thing itself is made anew, under another physical name: certainly, or perhaps. */
  readonly replaced: 'yes' | 'maybe' | 'no';
  readonly changes: readonly Change[];
}

export interface Comparison {
  readonly resources: readonly ResourceChange[];
  /** Outputs, parameters, the stack's own properties. */
  readonly others: readonly Change[];
  readonly iam: TemplateDiff['iamChanges'];
  readonly network: TemplateDiff['securityGroupChanges'];
  /** The construct of each logical id. */
  readonly names: Readonly<Record<string, string>>;
}

/** What would become of a stack that was deployed from the one template when the other is deployed. */
export function compareTemplates(before: Template, after: Template): Comparison {
  const difference = fullDiff(structuredClone(withoutStack(before)), structuredClone(withoutStack(after)));
  const names = { ...namesOf(before), ...namesOf(after) };
  const ids = new Set([...Object.keys(before.Resources ?? {}), ...Object.keys(after.Resources ?? {})]);
  const resources = [...ids].flatMap((id): ResourceChange[] => {
    const [old, current] = [before.Resources?.[id], after.Resources?.[id]];
    const changes = listResourceChanges(old, current);
    if (changes.length === 0) return [];
    return [
      {
        name: names[id] ?? id,
        type: current?.Type ?? old?.Type ?? '',
        kind: old === undefined ? 'added' : current === undefined ? 'removed' : 'changed',
        replaced: replacements[difference.resources.get(id).changeImpact] ?? 'no',
        changes,
      },
    ];
  });
  const others = listChanges({ ...before, Resources: undefined }, { ...after, Resources: undefined });
  return { resources, others, iam: difference.iamChanges, network: difference.securityGroupChanges, names };
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

function withoutStack({ Stack: _stack, ...template }: Template): Template {
  return template;
}

function namesOf({ Resources = {} }: Template): Record<string, string> {
  const entries = Object.entries(Resources).map(([id, { Metadata }]) => {
    const path = String(Metadata?.['aws:cdk:path'] ?? id);
    return [id, path.replace(/^[^/]+\//, '').replace(/\/(Resource|Default)$/, '')];
  });
  return Object.fromEntries(entries);
}
