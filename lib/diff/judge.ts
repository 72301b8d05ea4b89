import { settings, upstreamSettings } from '../../lambda/settings/table.ts';
import { setByStack } from '../config.ts';
import { type Change, type Comparison, listChanges, type ResourceChange } from './changes.ts';
import { type Guarantee, types, variable, type Where, webVariable } from './guarantees/guarantee.ts';
import { findBroken, guaranteesOf, type Named } from './guarantees/index.ts';
import { comparePermissions, isPermission, isPolicy } from './permissions.ts';
import { isTree, isWithin, type Part, partsOf, valuesAt } from './template.ts';

export interface Danger {
  /** Never deployed, even with approval. */
  readonly refused: boolean;
  readonly where: string;
  readonly what: string;
}

/**
 * What a reviewer must not overlook: every guarantee of the gateway that the new template breaks, whichever line did it; every
 * permission that is added or lost; and every change that is not known to be harmless.
 */
export function findDangers({ before, after, resources }: Comparison): readonly Danger[] {
  const old = new Map(partsOf(before).map((part) => [part.id, part]));
  const current = new Map(partsOf(after).map((part) => [part.id, part]));
  const replaced = new Map(resources.map((change) => [change.id, change.replaced]));
  const wasBroken = findBroken(before);
  // A guarantee that was already broken must not get worse unseen.
  const broken = findBroken(after).filter(
    ({ part: { id }, guarantee, values }) =>
      !wasBroken.some((one) => one.part.id === id && one.guarantee === guarantee && !differs(one.values, values)),
  );
  const judge = (id: string): Danger[] => {
    const [was, is] = [old.get(id), current.get(id)];
    if (is === undefined) return was === undefined || isPolicy(was.type) ? [] : [judgeRemoval(was)];
    const own = broken.filter(({ part }) => part.id === id).map(({ guarantee }) => guarantee);
    if (was === undefined) return [...judgeAddition(is), ...own.map((guarantee) => lossOf(is, guarantee, 'not'))];
    return judgeChange(was, { part: is, template: after }, own, replaced.get(id) ?? 'no');
  };
  const { widened, narrowed } = comparePermissions(before, after);
  return [
    ...[...new Set([...old.keys(), ...current.keys()])].flatMap(judge),
    ...widened.map((what) => ({ refused: false, where: 'permissions', what: `widens a permission: ${what}` })),
    ...narrowed.map((what) => ({ refused: false, where: 'permissions', what: `takes a permission away: ${what}` })),
  ];
}

function danger({ name }: Part, what: string, refused = false): Danger {
  return { refused, where: name, what };
}

function lossOf(part: Part, { property, otherwise, refused }: Named, since: 'not' | 'no longer'): Danger {
  return danger(part, `${since} ${property}: ${otherwise}`, refused);
}

function judgeRemoval(was: Part): Danger {
  const thing = thingOf(was.type);
  if (thing === undefined) return danger(was, 'is removed');
  return danger(was, `the stack gives up this ${thing} (a retained one stays behind, unused)`);
}

function thingOf(type: string): 'table' | 'secret' | undefined {
  return type === types.table ? 'table' : type === types.secret ? 'secret' : undefined;
}

/** Ways in from outside. */
const doors =
  /^AWS::(Lambda::(Url|WebFunctionEndpoint)|CloudFront::Distribution|ApiGateway(V2)?::(RestApi|Api)|ElasticLoadBalancingV2::LoadBalancer|EC2::SecurityGroup\w*)$/;

/** Resources that may be added: they open nothing by themselves, and their guarantees and permissions are checked too. */
const mayBeAdded =
  /^(AWS::(DynamoDB::GlobalTable|SecretsManager::Secret|Lambda::(Function|WebFunction|WebFunctionRevision)|S3::Bucket|Logs::LogGroup|IAM::Role|SNS::(Topic|Subscription)|CloudWatch::(Alarm|Dashboard)|Events::Rule|CloudFront::MonitoringSubscription)|Custom::S3ObjectCopy)$/;

function judgeAddition(is: Part): Danger[] {
  if (mayBeAdded.test(is.type) || isPolicy(is.type)) return [];
  if (doors.test(is.type)) return [danger(is, 'opens the network: a new way in')];
  return [danger(is, `is new, and a ${is.type} is not known to be harmless`)];
}

function judgeChange(
  was: Part,
  where: Where,
  broken: readonly Named[],
  replaced: ResourceChange['replaced'],
): Danger[] {
  const is = where.part;
  if (was.type !== is.type) return [danger(is, `is replaced: ${is.type} instead of ${was.type}`)];
  const changes = listChanges(was.tree, is.tree);
  const concerned = changes.length === 0 ? [] : guaranteesOf(is.type);
  const changed = concerned.filter((guarantee) => !keepsWhatWas(guarantee, was, where));
  const lost = [...broken, ...changed].map((guarantee) => lossOf(is, guarantee, 'no longer'));
  const replacement = judgeReplacement(is, replaced);
  if (replacement === undefined) return [...lost, ...findUnknown(is, changes)];
  // Being replaced says it all, unless a lost guarantee is refused.
  return lost.some(({ refused }) => refused) ? lost : [replacement];
}

function keepsWhatWas({ must, keeps, at }: Guarantee, was: Part, where: Where): boolean {
  const [old, values] = [valuesAt(was.tree, at), valuesAt(where.part.tree, at)];
  if (keeps) return old.every((value, index) => keeps(value, values[index], where));
  return must !== undefined || !differs(old, values);
}

function differs(before: unknown, after: unknown): boolean {
  return listChanges(before, after).length > 0;
}

/**
 * What may be replaced: policies, which are compared as permissions; alarms, which lose only their history; and revisions, which
 * can't be changed, only replaced, with their copy of the code, at the same address.
 */
const mayBeReplaced =
  /^(AWS::(IAM::Policy|Lambda::Permission|SNS::TopicPolicy|S3::BucketPolicy|CloudWatch::\w+|Lambda::WebFunctionRevision)|Custom::S3ObjectCopy)$/;

function judgeReplacement(is: Part, replaced: ResourceChange['replaced']): Danger | undefined {
  if (replaced === 'no' || mayBeReplaced.test(is.type)) return undefined;
  const thing = thingOf(is.type);
  if (thing === undefined) {
    return danger(is, `${replaced === 'yes' ? 'is' : 'may be'} replaced, with another name or address`);
  }
  const what = `${replaced === 'yes' ? 'replaces' : 'may replace'} this ${thing} by an empty one`;
  return danger(is, what, replaced === 'yes' && thing === 'table');
}

/** Changes that no guarantee covers and that are not known to be harmless. */
function findUnknown(is: Part, changes: readonly Change[]): Danger[] {
  const spokenOf = guaranteesOf(is.type).map(({ at }) => at);
  const known = [...mayVaryAnywhere, ...(mayVary[is.type] ?? []), ...spokenOf];
  return changes
    .flatMap(unfold)
    .filter(({ path }) => !isPermission(is.type, path) && !known.some((place) => isWithin(path, place)))
    .map(({ path }) => danger(is, `changes ${path}, which is not known to be harmless`));
}

/** The values of a part that is added or removed, one by one. */
function unfold(change: Change): Change[] {
  const { path, before, after } = change;
  if ((before !== undefined && after !== undefined) || !isTree(before ?? after)) return [change];
  const inside = listChanges(before ?? {}, after ?? {}, path);
  return inside.length > 0 ? inside.flatMap(unfold) : [change];
}

const ofNoFunction = new Set([...Object.keys(setByStack), 'NETWORK_SALT', 'UPSTREAM_API_KEYS']);

/** The settings that an operator may change, except those that a template must not contain. Guarantees about settings come first. */
const operatorSettings = [
  ...Object.keys(settings).filter((name) => !ofNoFunction.has(name)),
  ...Object.keys(upstreamSettings)
    .filter((name) => name !== 'API_KEYS')
    .flatMap((name) => [`UPSTREAM_${name}`, `UPSTREAM_*_${name}`]),
  'DEPLOYED_COMMIT',
];

/** Values that may change freely, by the type of the resource. People judge other changes that no guarantee covers. */
const mayVary: Readonly<Record<string, readonly string[]>> = {
  'AWS::DynamoDB::GlobalTable': ['WarmThroughput', 'Replicas[].Tags'],
  'AWS::SecretsManager::Secret': ['Description'],
  'AWS::Lambda::Function': [
    ...['Code.S3Key', 'Description', 'MemorySize', 'TracingConfig'],
    ...operatorSettings.map(variable),
  ],
  'AWS::Lambda::WebFunctionRevision': [
    ...['Description', 'ServiceConfig.MaxConcurrencyPerEnvironment'],
    ...[...operatorSettings, 'BODY_BUDGET', 'SHUTDOWN_GRACE'].map(webVariable),
  ],
  'AWS::Lambda::WebFunctionEndpoint': ['Description'],
  // Which code is copied, and what the copy is called: all that a revision says.
  'Custom::S3ObjectCopy': ['SourceObjectKey', 'ContentHash', 'Configuration'],
  'AWS::Logs::LogGroup': ['RetentionInDays'],
  'AWS::IAM::Role': ['Description'],
  'AWS::IAM::Policy': ['PolicyName'],
  'AWS::CloudWatch::Alarm': ['AlarmDescription', 'OKActions'],
  'AWS::CloudWatch::Dashboard': ['DashboardBody', 'DashboardName'],
  'AWS::Events::Rule': ['Description'],
  'AWS::CloudFront::Distribution': ['DistributionConfig.Comment'],
  Stack: ['tags'],
  Template: ['Description'],
};

/** On every resource: the order of creation, and the names on the bill. */
const mayVaryAnywhere: readonly string[] = ['DependsOn', 'Tags'];
