import { readFileSync } from 'node:fs';

interface Policy {
  readonly statements: readonly { readonly actions: readonly string[]; readonly resources: readonly string[] }[];
}

interface Written {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
}

/** One of the policies in the docs. */
export function readPolicy(name: string): Policy {
  const { Statement }: { Statement: readonly Written[] } = JSON.parse(
    readFileSync(`docs/policies/${name}.json`, 'utf8'),
  );
  const statements = Statement.map(({ Effect, Action, Resource }) => {
    if (Effect !== 'Allow') throw new Error(`${name} has a statement that does not allow`);
    return { actions: [Action].flat(), resources: [Resource].flat() };
  });
  return { statements };
}

/** Whether the policy allows the action on the resource. The policy's resources may be patterns. */
export function allows({ statements }: Policy, action: string, resource: string): boolean {
  return statements.some(
    ({ actions, resources }) =>
      actions.includes(action) &&
      resources.some((pattern) =>
        pattern.endsWith('*') ? resource.startsWith(pattern.slice(0, -1)) : pattern === resource,
      ),
  );
}
