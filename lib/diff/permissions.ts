import { anyone, type Grant, grantsOf } from './grants.ts';
import { namesOf, type Part, type Template, type Tree } from './template.ts';

/** Resources that only say who may do what. */
export function isPolicy(type: string): boolean {
  return /^AWS::(IAM::Policy|Lambda::(Permission|ResourcePolicy)|SNS::TopicPolicy|S3::BucketPolicy)$/.test(type);
}

/** What a part says besides permissions, which are compared here. */
export function exceptPermissions({ type, tree }: Part): Tree {
  if (type === 'AWS::Lambda::Permission') return {};
  const { Roles: _roles, Users: _users, Groups: _groups, ...others } = tree;
  return withoutStatements(type === 'AWS::IAM::Policy' ? others : tree);
}

function withoutStatements<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutStatements) as T;
  const kept = Object.entries(value).filter(([name]) => name !== 'Statement');
  return Object.fromEntries(kept.map(([name, one]) => [name, withoutStatements(one)])) as T;
}

export interface PermissionChanges {
  readonly widened: readonly string[];
  readonly narrowed: readonly string[];
}

/** The permissions that only one of the two templates grants, however the templates express them. */
export function comparePermissions(before: Template, after: Template): PermissionChanges {
  const [was, is] = [grantsOf(before), grantsOf(after)];
  const [hadNames, hasNames] = [before, after].map((template) => new Set(Object.values(namesOf(template))));
  // A part that is missing before or afterwards has nothing to lose.
  const isLasting = ({ principal, resource }: Grant) =>
    ![...(hadNames ?? []), ...(hasNames ?? [])].some(
      (name) =>
        hadNames?.has(name) !== hasNames?.has(name) &&
        (principal === name || resource === name || resource.startsWith(`${name}/`)),
    );
  const lost = beyond(was.allowed, is.allowed).filter(isLasting);
  const undenied = beyond(was.denied, is.denied).filter(isLasting);
  const denied = beyond(is.denied, was.denied).filter(isLasting);
  return {
    widened: [
      ...beyond(is.allowed, was.allowed).map(render),
      ...undenied.map((grant) => `no longer denied: ${render(grant)}`),
    ],
    narrowed: [...lost.map(render), ...denied.map((grant) => `denied: ${render(grant)}`)],
  };
}

/** The grants that none of the others covers. */
function beyond(grants: readonly Grant[], others: readonly Grant[]): Grant[] {
  return grants.filter((grant) => !others.some((other) => covers(other, grant)));
}

function covers(wider: Grant, grant: Grant): boolean {
  return (
    (wider.principal === grant.principal || wider.principal === anyone) &&
    matches(wider.action, grant.action) &&
    matches(wider.resource, grant.resource) &&
    (wider.condition === grant.condition || wider.condition === '')
  );
}

function matches(pattern: string, text: string): boolean {
  if (pattern === text) return true;
  if (!pattern.endsWith('*')) return false;
  return text.toLowerCase().startsWith(pattern.slice(0, -1).toLowerCase());
}

function render({ principal, action, resource, condition }: Grant): string {
  return `${principal} may ${action} on ${resource}${condition && `, if ${condition}`}`;
}
