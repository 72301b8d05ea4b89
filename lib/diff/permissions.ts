import { type Grant, sayGrant } from './grants.ts';
import { isTree, namesOf, type Part, partsOf, remember, type Template, type Tree } from './template.ts';

export function isPolicy(type: string): boolean {
  return /^AWS::(IAM::Policy|Lambda::(Permission|ResourcePolicy)|SNS::TopicPolicy|S3::BucketPolicy)$/.test(type);
}

/** Whether a path of a resource is compared here, as a permission. */
export function isPermission(type: string, path: string): boolean {
  if (type === 'AWS::Lambda::Permission') return true;
  if (type === 'AWS::IAM::Policy' && /^(Roles|Users|Groups)\b/.test(path)) return true;
  return /(^|\.)Statement($|[.[ ])/.test(path);
}

/** What only one of the two templates allows or denies, however they express it. */
export function comparePermissions(before: Template, after: Template): { gained: Grant[]; lost: Grant[] } {
  const [had, has] = [grantsOf(before), grantsOf(after)];
  const beyond = (grants: Grants, others: Grants) =>
    [...grants].flatMap(([said, one]) => (others.has(said) ? [] : one));
  return { gained: beyond(has, had), lost: beyond(had, has) };
}

type Grants = ReadonlyMap<string, Grant>;

/** Everything that a template allows or denies, keyed by its sentence: one for each principal, action and resource. */
const grantsOf = remember((template: Template): Grants => {
  const names = namesOf(template);
  return new Map(
    partsOf(template).flatMap((part) => {
      const { FunctionName, ...others } = part.tree;
      const statements =
        part.type === 'AWS::Lambda::Permission'
          ? [{ Effect: 'Allow', Resource: FunctionName, ...others }]
          : statementsOf(part.tree);
      const grants = statements.flatMap((statement) => grantsIn(statement, part, names));
      return grants.map((grant) => [sayGrant(grant), grant] as const);
    }),
  );
});

/** Every policy statement, wherever in the resource it is. */
const statementsOf = remember<Tree, Tree[]>(statementsIn);

function statementsIn(value: unknown): Tree[] {
  if (typeof value !== 'object' || value === null) return [];
  const { Statement = [], ...others } = value as Tree;
  return [...([Statement].flat() as Tree[]), ...Object.values(others).flatMap(statementsIn)];
}

type Names = Readonly<Record<string, string>>;

function grantsIn(statement: Tree, { name, type, tree }: Part, names: Names): Grant[] {
  const {
    Effect,
    Principal,
    NotPrincipal,
    Action,
    NotAction,
    Resource,
    NotResource,
    Sid: _sid,
    ...narrowed
  } = statement;
  const words = (value: unknown, excepted: unknown) =>
    excepted === undefined ? texts(value, names) : [`all but ${texts(excepted, names).join(', ')}`];
  const isAttached = Principal === undefined && NotPrincipal === undefined;
  const attached =
    type === 'AWS::IAM::Role' ? name : [tree.Roles, tree.Users, tree.Groups].flatMap((list) => list ?? []);
  const verb = Effect === 'Allow' ? 'may' : Effect === 'Deny' ? 'may not' : `${Effect}`;
  const condition = Object.keys(narrowed).length > 0 ? `, if ${JSON.stringify(narrowed)}` : '';
  return words(isAttached ? attached : principalsIn(Principal), NotPrincipal && principalsIn(NotPrincipal)).flatMap(
    (principal) =>
      words(Action, NotAction).flatMap((action) =>
        words(Resource ?? '*', NotResource).map((resource) => {
          // In a resource policy, `*` means that resource.
          const to = !isAttached && resource === '*' ? name : resource;
          return {
            principals: [principal === '*' ? 'anyone' : principal],
            verb,
            actions: [action],
            resources: [to],
            condition,
          };
        }),
      ),
  );
}

function principalsIn(value: unknown): unknown {
  return isTree(value) ? Object.values(value).flat() : value;
}

function texts(value: unknown, names: Names): string[] {
  return [value].flat().map((one) => renderValue(one, names));
}

/** A value for a reader: references become the names of their constructs. */
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
