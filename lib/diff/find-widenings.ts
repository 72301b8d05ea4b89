import type { Comparison } from './compare-templates.ts';

type Statement = Comparison['iam']['statements']['additions'][number];

/** Everything that somebody may do after the change and might not before, one line each. A statement that only shrinks is none. */
export function findWidenings({ iam, names }: Comparison): string[] {
  const { statements, managedPolicies } = iam;
  const allowed = grants(statements.additions, 'Allow').filter(
    (grant) => !grants(statements.removals, 'Allow').includes(grant),
  );
  const undenied = grants(statements.removals, 'Deny').filter(
    (grant) => !grants(statements.additions, 'Deny').includes(grant),
  );
  const attached = managedPolicies.additions.map(
    ({ identityArn, managedPolicyArn }) => `${identityArn} gets ${managedPolicyArn}`,
  );
  const lines = [...allowed, ...undenied.map((grant) => `no longer denied: ${grant}`), ...attached];
  return lines.map((line) => line.replace(/\$\{(\w+)(\.Arn)?\}/g, (whole, id) => names[id] ?? whole));
}

/** A statement, spelt out: one line for each principal, action and resource, so that two can be compared. */
function grants(statements: readonly Statement[], effect: 'Allow' | 'Deny'): string[] {
  return statements
    .filter((statement) => String(statement.effect) === effect)
    .flatMap(({ principals, actions, resources, condition }) =>
      valuesOf(principals).flatMap((principal) =>
        valuesOf(actions).flatMap((action) =>
          valuesOf(resources).map(
            (resource) => `${principal} may ${action} on ${resource}${renderCondition(condition)}`,
          ),
        ),
      ),
    );
}

function valuesOf({ values, not }: Statement['principals']): readonly string[] {
  return not ? [`all but ${values.join(', ')}`] : values;
}

function renderCondition(condition: unknown): string {
  return condition === undefined ? '' : `, if ${JSON.stringify(condition)}`;
}
