import type { Comparison, ResourceChange } from './compare-templates.ts';
import { findWidenings } from './find-widenings.ts';
import type { Change } from './list-changes.ts';

export interface Danger {
  /** What is never deployed this way, whoever agrees to it. */
  readonly refused: boolean;
  readonly where: string;
  readonly what: string;
}

/** What a reviewer must not overlook: data that is lost or loses its protection, permissions that widen, doors that open. */
export function findDangers(comparison: Comparison): readonly Danger[] {
  const { resources, others, network } = comparison;
  return [
    ...resources.filter(holdsData).flatMap(findLosses),
    ...others.flatMap(findStackDangers),
    ...findWidenings(comparison).map((what) => danger('permissions', `widens a permission: ${what}`)),
    ...resources.flatMap(findOpenings),
    ...[...network.ingress.additions, ...network.egress.additions].map((rule) =>
      danger('network', `opens the network: ${rule.describeProtocol()}, ${rule.describePeer()}`),
    ),
  ];
}

function danger(where: string, what: string, refused = false): Danger {
  return { refused, where, what };
}

function isTable(type: string): boolean {
  return /^AWS::DynamoDB::(Global)?Table$/.test(type);
}

function holdsData({ type }: ResourceChange): boolean {
  return isTable(type) || type === 'AWS::SecretsManager::Secret';
}

function findLosses({ name, type, kind, replaced, changes }: ResourceChange): Danger[] {
  const thing = isTable(type) ? 'table' : 'secret';
  if (kind === 'added') return [];
  if (kind === 'removed')
    return [danger(name, `the stack lets go of this ${thing} (a retained one stays behind, unused)`)];
  if (changes.some(changesKey)) {
    const what = 'another key means another table, and a new one is empty: add a table and move the items instead';
    return [danger(name, `changes the key of a table: ${what}`, true)];
  }
  const found: Danger[] = [];
  if (replaced !== 'no')
    found.push(danger(name, `${replaced === 'yes' ? 'replaces' : 'may replace'} this ${thing} by an empty one`));
  for (const { path, before, after } of changes) {
    if (/^(SecretString|GenerateSecretString)/.test(path))
      found.push(danger(name, 'writes the value of this secret anew'));
    if (/^GlobalSecondaryIndexes/.test(path) && before !== undefined)
      found.push(danger(name, `changes or drops an index: ${path}`));
    if (/(DeletionProtection|PointInTimeRecovery)Enabled$/.test(path) && before === true)
      found.push(danger(name, `gives up ${path}`));
    if (/^TimeToLiveSpecification/.test(path))
      found.push(danger(name, `changes which items delete themselves: ${path}`));
    if (/^(Deletion|UpdateReplace)Policy$/.test(path) && before === 'Retain')
      found.push(danger(name, `${path} is ${after ?? 'Delete'} now`));
  }
  return found;
}

/** The key itself, or the type of an attribute that is one (CloudFormation knows no other attributes). */
function changesKey({ path, before, after }: Change): boolean {
  if (/^KeySchema/.test(path)) return true;
  return /^AttributeDefinitions\[\d+\]\.AttributeType$/.test(path) && before !== undefined && after !== undefined;
}

function findStackDangers({ path, before, after }: Change): Danger[] {
  if (path === 'Stack.terminationProtection' && before === true)
    return [danger('the stack', 'gives up termination protection')];
  if (path === 'Stack.name' && before !== undefined && after !== undefined) {
    return [danger('the stack', `is another stack: everything is made anew beside ${before}`)];
  }
  return [];
}

/** What is a way in from outside. */
const doors =
  /^AWS::(Lambda::Url|CloudFront::Distribution|ApiGateway(V2)?::(RestApi|Api)|ElasticLoadBalancingV2::LoadBalancer)$/;

function findOpenings({ name, type, kind, changes }: ResourceChange): Danger[] {
  if (kind === 'added') return doors.test(type) ? [danger(name, 'opens the network: a new way in')] : [];
  return changes.flatMap(({ path, before, after }) => {
    if (type === 'AWS::Lambda::Url' && path === 'AuthType' && after === 'NONE') {
      return [danger(name, 'opens the network: anyone may call this URL')];
    }
    if (/(^|\.)WebACLId$/.test(path) && before !== undefined && after === undefined) {
      return [danger(name, 'opens the network: no web ACL any more')];
    }
    if (/\.ViewerProtocolPolicy$/.test(path) && after === 'allow-all') {
      return [danger(name, 'opens the network: requests without TLS')];
    }
    if (path === 'Environment.Variables.EDGE_SECRET_ID' && after === undefined) {
      return [danger(name, 'opens the network: requests that come around the CDN are answered')];
    }
    return [];
  });
}
