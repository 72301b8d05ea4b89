import { type Guarantee, holdsAll, is, told, toldAlike, types, type Where } from './guarantee.ts';

const { function: lambda, url, endpoint, role, logs, schedule, distribution, bucket } = types;

const behaviors = ['DefaultCacheBehavior', 'CacheBehaviors[]'].map((behavior) => `DistributionConfig.${behavior}`);

/** The `CachingDisabled` policy that CloudFront manages. */
const cachingDisabled = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';

/** Nobody reads what is not theirs. Permissions are compared separately: see ../permissions.ts. */
export const confidential: readonly Guarantee[] = [
  ...told('UPSTREAM*_BASE_URL', { otherwise: "sends prompts and the upstream's keys elsewhere" }),
  ...told('UPSTREAM*_HEADERS', {
    otherwise: 'sends the upstream other headers, which may choose whose account it is',
  }),
  ...told('APP_URL', { otherwise: 'sends people elsewhere for their keys' }),
  ...told('GATEWAY_URL', { otherwise: 'tells people to send their keys elsewhere' }),
  ...told('CORS_ORIGINS', {
    keeps: addsNoPage,
    otherwise: 'lets one more web page spend what its visitors may',
  }),
  ...told('OIDC_ISSUER', { otherwise: 'lets in people by the word of another provider, or of none' }),
  ...['OIDC_ALLOWED_DOMAINS', 'OIDC_ALLOWED_GROUPS'].flatMap((name) =>
    told(name, { keeps: letsInNoMore, otherwise: `lets in people whom ${name} kept out` }),
  ),
  ...told('OIDC_GROUPS_CLAIM', {
    keeps: (before = 'groups', after = 'groups') => before === after,
    otherwise: 'lets in people by another claim than that of their groups so far',
  }),
  ...told('OIDC_ALLOW_ALL', {
    keeps: (before, after) => before === 'true' || after !== 'true',
    otherwise: 'may let in everybody who has an account at the provider',
  }),
  ...told('IDENTITY_CACHE_SECONDS', {
    must: (seconds) => seconds === undefined || Number(seconds) <= 60,
    otherwise: 'believes a key for longer than the minute in which a revocation takes effect',
  }),
  { of: lambda, at: 'Role', otherwise: 'has the rights of another role' },
  { of: lambda, at: 'Role', must: isItsOwn, otherwise: 'has the rights of another function' },
  {
    of: logs,
    at: 'RetentionInDays',
    must: (days) => Number(days) <= 365,
    otherwise: 'tells for more than a year who asked when',
    chosen: true,
  },
  ...toldAlike('UPSTREAM_SECRET_ID', { otherwise: "takes the upstream's keys from another secret" }),
  ...told('UPSTREAM_NAMES', { keeps: hidesAll, otherwise: 'no longer hides a name of the upstream' }),
  ...told('UPSTREAM_SIGNS_THINKING', {
    keeps: (before, after) => before === 'true' || after !== 'true',
    otherwise: 'no longer hides names in thinking',
  }),
  ...told('UPSTREAM_CALLER_IDS', {
    keeps: (before, after) => before !== 'hash' || after === 'hash',
    otherwise: 'shows the upstream who its callers are',
  }),
  ...toldAlike('EDGE_SECRET_ID', {
    otherwise: 'recognizes requests through the CDN by another secret, or not at all',
  }),
  ...told('EDGE_ONLY', {
    keeps: (before, after) => before === 'false' || after !== 'false',
    otherwise: 'opens the network: callers may bypass the CDN and its web ACL',
  }),
  { of: role, at: 'ManagedPolicyArns', must: is(undefined), otherwise: 'gets permissions from policies elsewhere' },
  {
    of: schedule,
    at: 'Targets[].RoleArn',
    must: is(undefined),
    otherwise: 'runs something with rights from elsewhere',
  },
  {
    of: url,
    at: 'AuthType',
    keeps: (before, after) => after !== 'NONE' || before === 'NONE',
    otherwise: 'opens the network: anyone may call it',
  },
  {
    of: endpoint,
    at: 'AuthType',
    keeps: (before, after) => after !== 'ApplicationManaged' || before === 'ApplicationManaged',
    otherwise: 'opens the network: anyone may call it',
  },
  ...['BlockPublicAcls', 'BlockPublicPolicy', 'IgnorePublicAcls', 'RestrictPublicBuckets'].map((block) => ({
    of: bucket,
    at: `PublicAccessBlockConfiguration.${block}`,
    must: is(true),
    otherwise: 'can be opened to anyone',
  })),
  {
    of: distribution,
    at: 'DistributionConfig.WebACLId',
    keeps: (before, after) => before === undefined || after === before,
    otherwise: 'opens the network: it has another web ACL, or none',
  },
  ...behaviors.flatMap((behavior) => [
    {
      of: distribution,
      at: `${behavior}.ViewerProtocolPolicy`,
      must: is('https-only'),
      otherwise: 'opens the network: accepts keys without TLS, if only to redirect',
    },
    {
      of: distribution,
      at: `${behavior}.CachePolicyId`,
      must: is(cachingDisabled),
      otherwise: "caches answers, and may give one caller's to another",
    },
  ]),
];

function isItsOwn(role: unknown, { template }: Where): boolean {
  const roles = Object.values(template.Resources ?? {}).map(({ Properties }) => JSON.stringify(Properties?.Role));
  return role === undefined || roles.filter((one) => one === JSON.stringify(role)).length === 1;
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
