import {
  behaviors,
  figure,
  type Guarantee,
  holdsAll,
  is,
  keeps,
  keepsTo,
  neverTurns,
  placesOf,
  requires,
  stays,
  told,
  toldAlike,
  types,
  type Where,
} from './guarantee.ts';

const { function: lambda, url, endpoint, role, logs, schedule, distribution, bucket } = types;

/** The `CachingDisabled` policy that CloudFront manages. */
const cachingDisabled = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';

const otherAccount = 'sends the upstream other headers, which may choose whose account it is';
const otherClaim = 'lets in people by another claim than that of their groups so far';
const believesTooLong = 'believes a key for longer than the minute in which a revocation takes effect';
const acceptsPlainKeys = 'opens the network: accepts keys without TLS, if only to redirect';
const callable = 'opens the network: anyone may call it';
const otherWebAcl = 'opens the network: it has another web ACL, or none';
const aMinute = figure((seconds) => seconds <= 60);

/** Nobody reads what is not theirs. Permissions are compared separately: see ../permissions.ts. */
export const confidential: readonly Guarantee[] = [
  ...told('UPSTREAM*_BASE_URL', "sends prompts and the upstream's keys elsewhere"),
  ...told('UPSTREAM*_HEADERS', otherAccount),
  ...told('APP_URL', 'sends people elsewhere for their keys'),
  ...told('GATEWAY_URL', 'tells people to send their keys elsewhere'),
  ...told('CORS_ORIGINS', 'lets one more web page spend what its visitors may', addsNoPage),
  ...told('OIDC_ISSUER', 'lets in people by the word of another provider, or of none'),
  ...['OIDC_ALLOWED_DOMAINS', 'OIDC_ALLOWED_GROUPS'].flatMap((name) =>
    told(name, `lets in people whom ${name} kept out`, letsInNoMore),
  ),
  ...told('OIDC_GROUPS_CLAIM', otherClaim, (before = 'groups', after = 'groups') => before === after),
  ...told('OIDC_ALLOW_ALL', 'may let in everybody who has an account at the provider', neverTurns('true')),
  ...placesOf('IDENTITY_CACHE_SECONDS').map(([of, at]) => requires(of, at, aMinute, believesTooLong)),
  stays(lambda, 'Role', 'has the rights of another role'),
  requires(lambda, 'Role', isItsOwn, 'has the rights of another function'),
  requires(logs, 'RetentionInDays', (days) => Number(days) <= 365, 'tells for more than a year who asked when', {
    chosen: true,
  }),
  ...toldAlike('UPSTREAM_SECRET_ID', "takes the upstream's keys from another secret"),
  ...told('UPSTREAM_NAMES', 'no longer hides a name of the upstream', hidesAll),
  ...told('UPSTREAM_SIGNS_THINKING', 'no longer hides names in thinking', neverTurns('true')),
  ...told('UPSTREAM_CALLER_IDS', 'shows the upstream who its callers are', keepsTo('hash')),
  ...toldAlike('EDGE_SECRET_ID', 'recognizes requests through the CDN by another secret, or not at all'),
  ...told('EDGE_ONLY', 'opens the network: callers may bypass the CDN and its web ACL', neverTurns('false')),
  requires(role, 'ManagedPolicyArns', is(undefined), 'gets permissions from policies elsewhere'),
  requires(schedule, 'Targets[].RoleArn', is(undefined), 'runs something with rights from elsewhere'),
  keeps(url, 'AuthType', neverTurns('NONE'), callable),
  keeps(endpoint, 'AuthType', neverTurns('ApplicationManaged'), callable),
  ...['BlockPublicAcls', 'BlockPublicPolicy', 'IgnorePublicAcls', 'RestrictPublicBuckets'].map((block) =>
    requires(bucket, `PublicAccessBlockConfiguration.${block}`, is(true), 'can be opened to anyone'),
  ),
  keeps(distribution, 'DistributionConfig.WebACLId', isUnsetOrSame, otherWebAcl),
  ...behaviors.flatMap((one) => [
    requires(distribution, `${one}.ViewerProtocolPolicy`, is('https-only'), acceptsPlainKeys),
    requires(
      distribution,
      `${one}.CachePolicyId`,
      is(cachingDisabled),
      "caches answers, and may give one caller's to another",
    ),
  ]),
];

function isItsOwn(role: unknown, { template }: Where): boolean {
  const roles = Object.values(template.Resources ?? {}).map(({ Properties }) => JSON.stringify(Properties?.Role));
  return role === undefined || roles.filter((one) => one === JSON.stringify(role)).length === 1;
}

function isUnsetOrSame(before: unknown, after: unknown): boolean {
  return before === undefined || after === before;
}

function hidesAll(before: unknown, after: unknown): boolean {
  return holdsAll(namesIn(before), namesIn(after));
}

/** Pages that are not named, or any by `*`, have no say over what networks are linked to. */
function addsNoPage(before: unknown, after: unknown): boolean {
  return holdsAll(namesIn(after), [...namesIn(before), '*']);
}

/** A list that is not set restricts nobody; one that is added restricts people further. */
function letsInNoMore(before: unknown, after: unknown): boolean {
  const [old, current] = [namesIn(before), namesIn(after)];
  return old.length === 0 || (current.length > 0 && holdsAll(current, old));
}

function namesIn(value: unknown): string[] {
  if (typeof value !== 'string') return [];
  return value.split(',').flatMap((name) => name.trim() || []);
}
