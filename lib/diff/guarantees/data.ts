import {
  figure,
  type Guarantee,
  holdsAll,
  is,
  isUnsetOrSame,
  keeps,
  keepsTo,
  listOf,
  neverTurns,
  requires,
  told,
  toldAlike,
  types,
  variable,
  type Where,
  webVariable,
} from './guarantee.ts';

const {
  table,
  secret,
  stack,
  function: lambda,
  revision,
  url,
  endpoint,
  role,
  logs,
  schedule,
  bucket,
  distribution,
} = types;

const recovery = 'Replicas[].PointInTimeRecoverySpecification';
const overwritten = 'is overwritten, and its current value is lost';

/** No mistake loses keys, counters or secrets for good. */
export const durable: readonly Guarantee[] = [
  ...[table, secret].flatMap((data) => [
    requires(data, 'DeletionPolicy', is('Retain'), 'is deleted together with the stack'),
    requires(data, 'UpdateReplacePolicy', is('Retain'), 'is deleted when another takes its place'),
  ]),
  requires(table, 'Replicas[].DeletionProtectionEnabled', is(true), 'can be deleted by a single command'),
  requires(table, `${recovery}.PointInTimeRecoveryEnabled`, is(true), "can't be restored to an earlier second"),
  requires(
    table,
    `${recovery}.RecoveryPeriodInDays`,
    figure((days) => days === 35),
    "can't be restored to any second of the last 35 days",
  ),
  keeps(table, 'TimeToLiveSpecification', 'expires other items'),
  keeps(secret, 'SecretString', overwritten),
  keeps(secret, 'GenerateSecretString', overwritten),
  keeps(stack, 'terminationProtection', 'can be deleted by a single command', keepsTo(true)),
  keeps(stack, 'name', 'is another stack: everything is created again beside the old one'),
];

const otherKey = 'has another key, so it is replaced by an empty table: add a table and move the items instead';
const otherSalt = 'hashes networks with another salt, so that every guest counter and link is lost';
const otherAddresses = "takes callers' addresses from elsewhere";
/** Lambda allows one second from SIGTERM to the end. */
const underASecond = figure((seconds) => seconds < 1);

/** Every request is counted once, on its caller's counter. */
export const exact: readonly Guarantee[] = [
  keeps(table, 'KeySchema', otherKey, undefined, { refused: true }),
  keeps(table, 'AttributeDefinitions', otherKey, haveSameTypes, { refused: true }),
  keeps(table, 'AttributeDefinitions', 'loses an attribute of its keys', holdsAll),
  keeps(table, 'GlobalSecondaryIndexes', 'loses an index, or has another in its place', holdsAll),
  keeps(table, 'Replicas[].GlobalSecondaryIndexes', 'loses an index in a region', holdsAll),
  requires(table, 'BillingMode', is('PAY_PER_REQUEST'), 'has a capacity limit, above which it rejects charges'),
  ...toldAlike('KEYS_TABLE', 'looks for keys in another table'),
  ...toldAlike('QUOTA_TABLE', 'counts in another table'),
  ...toldAlike('NETWORK_SALT_SECRET_ID', otherSalt),
  ...toldAlike('NETWORK_SALT', otherSalt),
  ...toldAlike('EDGE_HEADER', otherAddresses),
  requires(revision, webVariable('SHUTDOWN_GRACE'), underASecond, 'may be killed before it has written its refunds'),
  requires(revision, webVariable('CLIENT_ADDRESS'), is('x-forwarded-for'), otherAddresses),
];

function haveSameTypes(before: unknown, after: unknown): boolean {
  const typesIn = (definitions: unknown) =>
    (listOf(definitions) as readonly Readonly<Record<string, unknown>>[]).map(
      ({ AttributeName, AttributeType }) => [AttributeName, AttributeType] as const,
    );
  const old = new Map(typesIn(before));
  return typesIn(after).every(([name, type]) => !old.has(name) || old.get(name) === type);
}

const behaviors = ['DistributionConfig.DefaultCacheBehavior', 'DistributionConfig.CacheBehaviors[]'];
/** The `CachingDisabled` policy that CloudFront manages. */
const cachingDisabled = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';

const otherPeople = 'changes who may sign in: another provider, or other domains or groups';
const believesTooLong = 'caches keys for longer than the minute in which a revocation takes effect';
const acceptsPlainKeys = 'opens the network: accepts keys without TLS, if only to redirect';
const caches = "caches answers, and may give one caller's to another";
const callable = 'opens the network: anyone may call it';
const otherWebAcl = 'opens the network: it has another web ACL, or none';
const aMinute = figure((seconds) => seconds <= 60);

/** Nobody can read other people's data. Permissions are compared separately: see ../permissions.ts. */
export const confidential: readonly Guarantee[] = [
  ...told('UPSTREAM*_BASE_URL', "sends prompts and the upstream's keys elsewhere"),
  ...told('UPSTREAM*_HEADERS', 'sends the upstream other headers, which may choose whose account it is'),
  ...told('APP_URL', 'sends people elsewhere for their keys'),
  ...told('GATEWAY_URL', 'tells people to send their keys elsewhere'),
  ...told('CORS_ORIGINS', 'lets other web pages spend what their visitors may'),
  ...['ISSUER', 'ALLOWED_DOMAINS', 'ALLOWED_GROUPS', 'GROUPS_CLAIM', 'ALLOW_ALL'].flatMap((name) =>
    told(`OIDC_${name}`, otherPeople),
  ),
  requires(lambda, variable('IDENTITY_CACHE_SECONDS'), aMinute, believesTooLong),
  requires(revision, webVariable('IDENTITY_CACHE_SECONDS'), aMinute, believesTooLong),
  keeps(lambda, 'Role', 'has the rights of another role'),
  requires(lambda, 'Role', isItsOwn, 'has the rights of another function'),
  requires(logs, 'RetentionInDays', (days) => Number(days) <= 365, 'records for more than a year who called when', {
    chosen: true,
  }),
  ...toldAlike('UPSTREAM_SECRET_ID', "takes the upstream's keys from another secret"),
  ...told('UPSTREAM_NAMES', 'no longer hides a name of the upstream', hidesAll),
  ...told('HIDE_IN_TEXT', 'no longer hides names in what the model writes', neverTurns('none')),
  ...told('UPSTREAM*_SIGNS_THINKING', 'no longer hides names in thinking', neverTurns('true')),
  ...told('UPSTREAM_CALLER_IDS', 'shows the upstream who its callers are', keepsTo('hash')),
  ...toldAlike('EDGE_SECRET_ID', 'recognizes requests through the CDN by another secret, or not at all'),
  ...told('EDGE_ONLY', 'opens the network: callers may bypass the CDN and its web ACL', neverTurns('false')),
  requires(role, 'ManagedPolicyArns', is(undefined), 'gets permissions from policies elsewhere'),
  requires(schedule, 'Targets[].RoleArn', is(undefined), 'runs something with rights from elsewhere'),
  keeps(url, 'AuthType', callable, neverTurns('NONE')),
  keeps(endpoint, 'AuthType', callable, neverTurns('ApplicationManaged')),
  ...['BlockPublicAcls', 'BlockPublicPolicy', 'IgnorePublicAcls', 'RestrictPublicBuckets'].map((block) =>
    requires(bucket, `PublicAccessBlockConfiguration.${block}`, is(true), 'can be opened to anyone'),
  ),
  keeps(distribution, 'DistributionConfig.WebACLId', otherWebAcl, isUnsetOrSame),
  ...behaviors.flatMap((one) => [
    requires(distribution, `${one}.ViewerProtocolPolicy`, is('https-only'), acceptsPlainKeys),
    requires(distribution, `${one}.CachePolicyId`, is(cachingDisabled), caches),
  ]),
];

function isItsOwn(role: unknown, { template }: Where): boolean {
  const roles = Object.values(template.Resources ?? {}).map(({ Properties }) => JSON.stringify(Properties?.Role));
  return role === undefined || roles.filter((one) => one === JSON.stringify(role)).length === 1;
}

function hidesAll(before: unknown, after: unknown): boolean {
  const [old, current] = [before, after].map((names) => String(names ?? '').split(/\s*,\s*/));
  return holdsAll(old?.filter(Boolean), current);
}
