import { settings, upstreamSettings } from '../../lambda/settings/table.ts';
import { setByStack } from '../config.ts';
import { type Change, type Comparison, isTree, listChanges } from './changes.ts';
import { type Guarantee, types, variable, type Where, webVariable } from './guarantees/guarantee.ts';
import { findBroken, guarantees, type Named } from './guarantees/index.ts';
import { comparePermissions, exceptPermissions, isPolicy } from './permissions.ts';
import { type Part, partsOf, type Template, valuesAt, without } from './template.ts';

export interface Danger {
  /** Never deployed, even with approval. */
  readonly refused: boolean;
  readonly where: string;
  readonly what: string;
}

interface PartChange {
  readonly was: Part | undefined;
  readonly is: Part | undefined;
  readonly replaced: 'yes' | 'maybe' | 'no';
  readonly before: Template;
  readonly after: Template;
}

/** What is dangerous about the change of one part of the template. */
function judgePart(change: PartChange): Danger[] {
  const { was, is } = change;
  if (is === undefined) return was === undefined || isPolicy(was.type) ? [] : [judgeRemoval(was)];
  const lost = findLost(change);
  if (was === undefined) return [...judgeAddition(is), ...lost];
  if (was.type !== is.type) return [danger(is, `is replaced: ${is.type} instead of ${was.type}`)];
  const replacement = judgeReplacement(change);
  if (replacement === undefined) return [...lost, ...findUnknown(was, is)];
  // Being replaced says it all, unless a lost guarantee is refused.
  return lost.some(({ refused }) => refused) ? lost : [replacement];
}

function danger({ name }: Part, what: string, refused = false): Danger {
  return { refused, where: name, what };
}

function judgeRemoval(was: Part): Danger {
  const thing = thingOf(was.type);
  if (thing === undefined) return danger(was, 'is removed');
  return danger(was, `the stack gives up this ${thing} (a retained one stays behind, unused)`);
}

/** Ways in from outside. */
const doors =
  /^AWS::(Lambda::(Url|WebFunctionEndpoint)|CloudFront::Distribution|ApiGateway(V2)?::(RestApi|Api)|ElasticLoadBalancingV2::LoadBalancer|EC2::SecurityGroup\w*)$/;

function judgeAddition(is: Part): Danger[] {
  if (mayBeAdded.has(is.type) || isPolicy(is.type)) return [];
  if (doors.test(is.type)) return [danger(is, 'opens the network: a new way in')];
  return [danger(is, `is new, and a ${is.type} is not known to be harmless`)];
}

/**
 * What may be replaced: policies, which are compared as permissions; alarms, which lose only their history; and revisions, which
 * can't be changed, only replaced, with their copy of the code, at the same address.
 */
const mayBeReplaced =
  /^(AWS::(IAM::Policy|Lambda::Permission|SNS::TopicPolicy|S3::BucketPolicy|CloudWatch::\w+|Lambda::WebFunctionRevision)|Custom::S3ObjectCopy)$/;

function judgeReplacement({ is, replaced }: PartChange): Danger | undefined {
  if (is === undefined || replaced === 'no' || mayBeReplaced.test(is.type)) return undefined;
  const thing = thingOf(is.type);
  if (thing === undefined) {
    return danger(is, `${replaced === 'yes' ? 'is' : 'may be'} replaced, with another name or address`);
  }
  const what = `${replaced === 'yes' ? 'replaces' : 'may replace'} this ${thing} by an empty one`;
  return danger(is, what, replaced === 'yes' && thing === 'table');
}

function thingOf(type: string): 'table' | 'secret' | undefined {
  const isOneOf = (known: readonly string[]) => known.includes(type);
  return isOneOf(types.table) ? 'table' : isOneOf(types.secret) ? 'secret' : undefined;
}

/** The guarantees that the part no longer keeps or, if it is new, does not keep. */
function findLost({ was, is, before, after }: PartChange): Danger[] {
  if (is === undefined) return [];
  // A guarantee that was already broken must not get worse unseen.
  const broken = findBroken(after).filter(
    ({ part, guarantee, values }) =>
      part.id === is.id &&
      !findBroken(before).some(
        (one) => one.part.id === is.id && one.guarantee === guarantee && !differs(one.values, values),
      ),
  );
  const changed = guarantees.filter(
    (one) => was && one.of.includes(is.type) && !keepsWhatWas(one, was, { part: is, template: after }),
  );
  return [...broken.map(({ guarantee }) => guarantee), ...changed].map(({ property, otherwise, refused }: Named) =>
    danger(is, `${was ? 'no longer' : 'not'} ${property}: ${otherwise}`, refused),
  );
}

function keepsWhatWas({ must, keeps, at }: Guarantee, was: Part, where: Where): boolean {
  const [old, values] = [valuesAt(was.tree, at), valuesAt(where.part.tree, at)];
  if (keeps) return old.every((value, index) => keeps(value, values[index], where));
  return must !== undefined || !differs(old, values);
}

function differs(before: unknown, after: unknown): boolean {
  return listChanges(before, after).length > 0;
}

/** Changes that no guarantee covers and that are not known to be harmless. */
function findUnknown(was: Part, is: Part): Danger[] {
  if (!differs(was.tree, is.tree)) return [];
  const spokenOf = guarantees.filter(({ of }) => of.includes(is.type)).map(({ at }) => at);
  const known = [...mayVaryAnywhere, ...(mayVary[is.type] ?? []), ...spokenOf];
  const [before, after] = [was, is].map((part) => without(exceptPermissions(part), known));
  const changes = listChanges(before, after).flatMap(unfold);
  return changes.map(({ path }) => danger(is, `changes ${path}, which is not known to be harmless`));
}

/** The values of a part that is added or removed, one by one. */
function unfold(change: Change): Change[] {
  const { path, before, after } = change;
  if ((before !== undefined && after !== undefined) || !isTree(before ?? after)) return [change];
  return listChanges(before ?? {}, after ?? {}, path).flatMap(unfold);
}

const ofNoFunction = new Set([...Object.keys(setByStack), 'NETWORK_SALT', 'UPSTREAM_API_KEYS']);

/** The settings that an operator may change, except those that a template must not contain. Guarantees about settings come first. */
const operatorSettings = [
  ...Object.keys(settings).filter((name) => !ofNoFunction.has(name)),
  ...Object.keys(upstreamSettings)
    .filter((name) => name !== 'API_KEYS')
    .flatMap((name) => [`UPSTREAM_${name}`, `UPSTREAM_*_${name}`]),
];

/** Values that may change freely, by the type of the resource. People judge other changes that no guarantee covers. */
const mayVary: Readonly<Record<string, readonly string[]>> = {
  'AWS::DynamoDB::GlobalTable': ['WarmThroughput', 'Replicas[].Tags'],
  'AWS::SecretsManager::Secret': ['Description'],
  'AWS::Lambda::Function': [
    'Code.S3Key',
    'Description',
    'MemorySize',
    'TracingConfig',
    ...[...operatorSettings, 'DEPLOYED_COMMIT'].map(variable),
  ],
  'AWS::Lambda::WebFunctionRevision': [
    'Description',
    'ServiceConfig.MaxConcurrencyPerEnvironment',
    ...[...operatorSettings, 'DEPLOYED_COMMIT', 'BODY_BUDGET', 'SHUTDOWN_GRACE'].map(webVariable),
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

/** Resources that may be added: they open nothing by themselves, and their guarantees and permissions are checked too. */
const mayBeAdded: ReadonlySet<string> = new Set([
  'AWS::DynamoDB::GlobalTable',
  'AWS::SecretsManager::Secret',
  'AWS::Lambda::Function',
  'AWS::Lambda::WebFunction',
  'AWS::Lambda::WebFunctionRevision',
  'AWS::S3::Bucket',
  'Custom::S3ObjectCopy',
  'AWS::Logs::LogGroup',
  'AWS::IAM::Role',
  'AWS::SNS::Topic',
  'AWS::SNS::Subscription',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::Events::Rule',
  'AWS::CloudFront::MonitoringSubscription',
]);

/**
 * What a reviewer must not overlook: every guarantee of the gateway that the new template breaks, whichever line did it; every
 * permission that is added or lost; and every change that is not known to be harmless.
 */
export function findDangers({ before, after, resources }: Comparison): readonly Danger[] {
  const old = new Map(partsOf(before).map((part) => [part.id, part]));
  const current = new Map(partsOf(after).map((part) => [part.id, part]));
  const replaced = new Map(resources.map((change) => [change.id, change.replaced]));
  const ids = new Set([...old.keys(), ...current.keys()]);
  const { widened, narrowed } = comparePermissions(before, after);
  return [
    ...[...ids].flatMap((id) =>
      judgePart({ was: old.get(id), is: current.get(id), replaced: replaced.get(id) ?? 'no', before, after }),
    ),
    ...widened.map((what) => ({ refused: false, where: 'permissions', what: `widens a permission: ${what}` })),
    ...narrowed.map((what) => ({ refused: false, where: 'permissions', what: `takes a permission away: ${what}` })),
  ];
}
