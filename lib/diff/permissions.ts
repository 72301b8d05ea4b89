import { isTree, namesOf, type Part, partsOf, remember, type Template, type Tree } from './template.ts';

/** Resources that only say who may do what. */
export function isPolicy(type: string): boolean {
  return /^AWS::(IAM::Policy|Lambda::(Permission|ResourcePolicy)|SNS::TopicPolicy|S3::BucketPolicy)$/.test(type);
}

/** Whether what stands at this path of a resource is compared here, as a permission. */
export function isPermission(type: string, path: string): boolean {
  if (type === 'AWS::Lambda::Permission') return true;
  if (type === 'AWS::IAM::Policy' && /^(Roles|Users|Groups)\b/.test(path)) return true;
  return /(^|\.)Statement($|[.[ ])/.test(path);
}

interface PermissionChanges {
  readonly widened: readonly string[];
  readonly narrowed: readonly string[];
}

/** The permissions that only one of the two templates grants, however the templates express them. */
export function comparePermissions(before: Template, after: Template): PermissionChanges {
  const [was, is] = [grantsOf(before), grantsOf(after)];
  const [had, has] = [before, after].map((template) => Object.values(namesOf(template))) as [string[], string[]];
  const passing = [...had.filter((name) => !has.includes(name)), ...has.filter((name) => !had.includes(name))];
  // A part that is missing before or afterwards has nothing to lose.
  const isLasting = ({ principal, resource }: Grant) =>
    !passing.some((name) => principal === name || resource === name || resource.startsWith(`${name}/`));
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

/** A statement of a policy, spelt out: one for each principal, action and resource, so that two can be compared. */
interface Grant {
  readonly denies: boolean;
  readonly principal: string;
  readonly action: string;
  readonly resource: string;
  readonly condition: string;
}

/** The principal `*`. */
const anyone = 'anyone';

/** Everything that the template allows or denies, wherever it says so. */
const grantsOf = remember((template: Template) => {
  const names = namesOf(template);
  const grants = partsOf(template).flatMap((part) =>
    part.type === 'AWS::Lambda::Permission'
      ? grantsOfPermission(part.tree, names)
      : statementsOf(part.tree).flatMap((statement) => grantsOfStatement(statement, part, names)),
  );
  return { allowed: grants.filter(({ denies }) => !denies), denied: grants.filter(({ denies }) => denies) };
});

type Names = Readonly<Record<string, string>>;

function grantsOfPermission({ Principal, Action, FunctionName, ...conditions }: Tree, names: Names): Grant[] {
  const [principal = ''] = principalsOf(Principal, names);
  const grant = { principal, action: String(Action), resource: renderValue(FunctionName, names) };
  return [{ denies: false, ...grant, condition: conditionOf(conditions, names) }];
}

/** Anything else in a statement narrows what it grants. */
function conditionOf({ Condition, ...others }: Tree, names: Names): string {
  const conditions = Object.keys(others).length > 0 ? { ...others, Condition } : Condition;
  return conditions === undefined ? '' : renderValue(conditions, names);
}

/** Every statement of a policy, wherever in a resource it is. */
const statementsOf = remember<Tree, Tree[]>(statementsIn);

function statementsIn(value: unknown): Tree[] {
  if (typeof value !== 'object' || value === null) return [];
  const { Statement, ...others } = value as Tree;
  const own = Statement === undefined ? [] : ([Statement].flat() as Tree[]);
  return [...own, ...Object.values(others).flatMap(statementsIn)];
}

function grantsOfStatement(statement: Tree, { name, type, tree }: Part, names: Names): Grant[] {
  const { Effect, Principal, NotPrincipal, Action, NotAction, Resource, NotResource, Sid: _sid, ...rest } = statement;
  const ofResource = Principal !== undefined || NotPrincipal !== undefined;
  const attached = [tree.Roles, tree.Users, tree.Groups].flatMap((list) =>
    list === undefined ? [] : texts(list, names),
  );
  const belongsTo = type === 'AWS::IAM::Role' ? [name] : attached;
  const named = Principal === undefined ? belongsTo : principalsOf(Principal, names);
  const principals = NotPrincipal === undefined ? named : allBut(principalsOf(NotPrincipal, names));
  const actions = NotAction === undefined ? texts(Action, names) : allBut(texts(NotAction, names));
  const resources = NotResource === undefined ? texts(Resource ?? '*', names) : allBut(texts(NotResource, names));
  const isKnown = Effect === 'Allow' || Effect === 'Deny';
  const condition = conditionOf(isKnown ? rest : { ...rest, Effect }, names);
  return principals.flatMap((principal) =>
    actions.flatMap((action) =>
      resources.map((resource) => ({
        denies: Effect === 'Deny',
        principal,
        action,
        // In a resource's own policy, `*` is that resource.
        resource: ofResource && resource === '*' ? name : resource,
        condition,
      })),
    ),
  );
}

const allBut = (excepted: readonly string[]): string[] => [`all but ${excepted.join(', ')}`];

function principalsOf(value: unknown, names: Names): string[] {
  const kinds = isTree(value) ? Object.values(value) : [];
  return (kinds.length > 0 ? kinds : [value])
    .flatMap((kind) => texts(kind, names))
    .map((text) => (text === '*' ? anyone : text));
}

function texts(value: unknown, names: Names): string[] {
  return [value].flat().map((one) => renderValue(one, names));
}

/** A value as a reader knows it: references become the names of the constructs that they lead to. */
function renderValue(value: unknown, names: Names): string {
  if (typeof value === 'string') return value;
  const [[kind, to] = ['', undefined], ...more] = Object.entries(value ?? {});
  if (more.length === 0) {
    if (kind === 'Ref') return names[String(to)] ?? String(to);
    const [first, second, ...others] = [to].flat();
    if (kind === 'Fn::GetAtt' && second === 'Arn' && others.length === 0) return names[first] ?? first;
    if (kind === 'Fn::Join') return texts(second, names).join(String(first));
  }
  return String(JSON.stringify(value));
}
