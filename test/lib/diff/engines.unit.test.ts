import { describe, expect, test } from '@jest/globals';
import { compareTemplates } from '../../../lib/diff/changes.ts';
import { findDangers } from '../../../lib/diff/judge.ts';
import { partsOf, type Template } from '../../../lib/diff/template.ts';
import { everyChange } from '../../support/template-changes.ts';
import { onWeb, synthesizeWhole, synthesizeWithBothEngines } from '../../support/whole-template.ts';

// biome-ignore lint/suspicious/noExplicitAny: the tests reach into templates as deep as they please
type Any = any;

const functionUrl = synthesizeWhole();
const both = synthesizeWithBothEngines();
const web = synthesizeWhole(onWeb);

function dangersBetween(before: Template, after: Template): string[] {
  return findDangers(compareTemplates(before, after)).map(
    ({ refused, where, what }) => `${refused ? 'REFUSED ' : ''}${where}: ${what}`,
  );
}

/** What must not change in a step: the tables, the secrets, and the names by which engines know them. */
function holdings({ Resources = {} }: Template): object {
  const kept = Object.entries(Resources).filter(([, { Type }]) => /^AWS::(DynamoDB|SecretsManager)::/.test(Type));
  return Object.fromEntries(kept);
}

const where = ['KEYS_TABLE', 'QUOTA_TABLE', 'NETWORK_SALT_SECRET_ID', 'UPSTREAM_SECRET_ID', 'EDGE_SECRET_ID'];

function countsIn(template: Template): string[] {
  return Object.values<Any>(template.Resources ?? {}).flatMap(({ Properties = {} }) => {
    const told = Properties.Environment?.Variables ?? Properties.ServiceConfig?.EnvironmentVariables;
    return told?.QUOTA_TABLE && told.UPSTREAM_BASE_URL ? [JSON.stringify(where.map((name) => told[name]))] : [];
  });
}

describe('moving from one engine to the other', () => {
  const steps = [
    ['function-url to web', functionUrl, web],
    ['web to function-url', web, functionUrl],
  ] as const;

  test.each(steps)(
    '%s keeps tables, secrets and counters as they are, and is for people to agree to',
    (_, from, to) => {
      expect(holdings(to)).toEqual(holdings(from));
      expect(new Set([...countsIn(from), ...countsIn(to)]).size).toBe(1);
      const dangers = dangersBetween(from, to);
      expect(dangers.length).toBeGreaterThan(0);
      expect(
        dangers.filter((danger) => /REFUSED|Tables\/\w+:|Secrets\/\w+:|exact|durable|private/.test(danger)),
      ).toEqual([]);
    },
  );

  test('adding one opens a way in and grants its role what it needs; nothing else changes', () => {
    const dangers = dangersBetween(functionUrl, both);
    expect(dangers).toContain('Web/Function/Endpoint: opens the network: a new way in');
    const rest = dangers.filter((danger) => !/^permissions: widens a permission: /.test(danger));
    expect(rest).toEqual(['Web/Function/Endpoint: opens the network: a new way in']);
    for (const danger of dangers.slice(1)) expect(danger).toMatch(/: (Web\/[\w/]+|lambda\.amazonaws\.com) may /);
  });

  test('the way in that goes is marked, and so is the one that comes', () => {
    const [gone, come] = ['Gateway/Function/FunctionUrl', 'Web/Function/Endpoint'];
    const marks = (removed: string, added: string) => [
      `${removed}: is removed`,
      `${added}: opens the network: a new way in`,
    ];
    expect(dangersBetween(functionUrl, web)).toEqual(expect.arrayContaining(marks(gone, come)));
    expect(dangersBetween(web, functionUrl)).toEqual(expect.arrayContaining(marks(come, gone)));
  });
});

const ids = Object.fromEntries(partsOf(both).map(({ id, name }) => [name, id]));
const propertiesOf = (template: Any, name: string): Any => template.Resources[ids[name] ?? ''].Properties;
const revision = (template: Any) => propertiesOf(template, 'Web/Function/Revision').ServiceConfig;
const told = (template: Any) => revision(template).EnvironmentVariables;
const endpoint = (template: Any) => propertiesOf(template, 'Web/Function/Endpoint');

function dangersOf(change: (template: Any) => void): string[] {
  const after = structuredClone(both);
  change(after);
  expect(JSON.stringify(after)).not.toBe(JSON.stringify(both));
  return dangersBetween(both, after);
}

test.each<readonly [what: string, change: (template: Any) => void, marked: RegExp]>([
  ['counters elsewhere', (t) => (told(t).QUOTA_TABLE = 'mine'), /exact: counts in another table/],
  ['keys elsewhere', (t) => (told(t).KEYS_TABLE = 'mine'), /exact: looks for keys/],
  ['another salt', (t) => (told(t).NETWORK_SALT_SECRET_ID = 'x'), /exact: hashes networks with another salt/],
  ['callers from the socket', (t) => (told(t).CLIENT_ADDRESS = 'socket'), /exact: takes callers' addresses/],
  ['no word of callers', (t) => delete told(t).CLIENT_ADDRESS, /exact: takes callers' addresses/],
  ['another upstream', (t) => (told(t).UPSTREAM_BASE_URL = 'https://x.example/v1'), /private: sends prompts/],
  [
    'a way around the CDN',
    (t) => delete told(t).EDGE_SECRET_ID,
    /private: recognizes requests through the CDN by another secret/,
  ],
  ['a name that is shown', (t) => (told(t).UPSTREAM_NAMES = 'vendor'), /private: no longer hides/],
  ['a key in a template', (t) => (told(t).UPSTREAM_API_KEYS = 'key'), /UPSTREAM_API_KEYS/],
  ['metrics elsewhere', (t) => (told(t).METRICS_NAMESPACE = 'Other'), /watched: sends its metrics/],
  ['a log elsewhere', (t) => (revision(t).TelemetryConfig.LoggingConfig.LogGroup = 'x'), /watched: logs elsewhere/],
  ['less logged', (t) => (revision(t).TelemetryConfig.LoggingConfig.ApplicationLogLevel = 'ERROR'), /watched/],
  ['thirty seconds', (t) => (revision(t).TimeoutSeconds = 30), /reachable: is stopped in the middle/],
  ['a longer request', (t) => (told(t).REQUEST_TIMEOUT = '1000'), /reachable: is stopped in the middle/],
  ['other models', (t) => (told(t).SERVICE_NAME = 'other'), /reachable: has models and headers by other names/],
  ['another role', (t) => (revision(t).ExecutionRoleArn = 'arn:admin'), /ExecutionRoleArn/],
  ['signed requests only', (t) => (endpoint(t).AuthType = 'IamAuth'), /reachable: is closed to callers/],
  ['no requests', (t) => (endpoint(t).ThrottleConfig.RateLimit = 0), /reachable: answers nobody/],
  ['no rate limit', (t) => delete endpoint(t).ThrottleConfig, /one limit less on the cost of a flood/],
  ['environments without end', (t) => delete endpoint(t).ScalingConfig, /one limit less on the cost of a flood/],
  ['no limit of a day', (t) => delete told(t).DAILY_LIMIT, /bounded: answers any number of requests a day/],
  ['a setting that nobody knows', (t) => (told(t).SECRET_HASH = 'a'.repeat(64)), /SECRET_HASH/],
  ['another address', (t) => (endpoint(t).EndpointName = 'other'), /reachable: is replaced by one at another address/],
  [
    'another name',
    (t) => (propertiesOf(t, 'Web/Function/Function').FunctionName = 'x'),
    /reachable: is replaced by one at another address/,
  ],
  ['requests that go elsewhere', (t) => (endpoint(t).RevisionWeights[0].RevisionId = 'old'), /RevisionWeights/],
  [
    'a bucket that may be made public',
    (t) => (propertiesOf(t, 'Web/Code/Bucket').PublicAccessBlockConfiguration.BlockPublicPolicy = false),
    /private: can be opened to anyone/,
  ],
  [
    'code that anyone may read',
    (t) =>
      propertiesOf(t, 'Web/Code/Bucket/Policy').PolicyDocument.Statement.push({
        ...{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: '*' },
      }),
    /widens a permission: anyone may s3:GetObject/,
  ],
  ['code without versions', (t) => delete propertiesOf(t, 'Web/Code/Bucket').VersioningConfiguration, /versions/],
  [
    'code copied by somebody else',
    (t) => (propertiesOf(t, 'Web/Function/CodeCopyfb0a81a2/Resource').ServiceToken = 'arn:x'),
    /./,
  ],
])('the gate marks a web function with %s', (_what, change, marked) => {
  expect(dangersOf(change)).toEqual(expect.arrayContaining([expect.stringMatching(marked)]));
});

test('a new web function must use the tables, secrets and metrics of the function beside it', () => {
  for (const name of [
    'KEYS_TABLE',
    'QUOTA_TABLE',
    'NETWORK_SALT_SECRET_ID',
    'EDGE_HEADER',
    'EDGE_SECRET_ID',
    'METRICS_NAMESPACE',
  ]) {
    const after: Any = structuredClone(both);
    told(after)[name] = 'another';
    expect(dangersBetween(functionUrl, after)).toContainEqual(expect.stringMatching(/^Web\/Function\/Revision: not /));
  }
});

test('new settings, limits and code pass, although each makes a new revision', () => {
  const changed = { ...onWeb, GUEST_LIMIT: 7, BODY_BUDGET: 512, maxConcurrency: 128 };
  expect(dangersBetween(web, synthesizeWhole(changed))).toEqual([]);
});

/** What may change without a mark, and how, except settings and what names a revision's copy; repeated here by hand. */
const passes = {
  'Lambda::WebFunctionRevision Description': 'removed, another text',
  'Lambda::WebFunctionRevision ServiceConfig.MaxConcurrencyPerEnvironment': 'removed, more, far more',
  'Lambda::WebFunctionRevision ServiceConfig.TimeoutSeconds': 'more, far more',
  'Lambda::WebFunctionEndpoint ScalingConfig.MaxEnvironments': 'more',
  'Lambda::WebFunctionEndpoint ThrottleConfig.RateLimit': 'more',
  // Changes that CloudFormation would refuse, and one more principal of a denial that applies to all.
  'S3::BucketPolicy PolicyDocument.Statement': 'one more element',
  'S3::BucketPolicy PolicyDocument.Statement[].Principal': 'one more member',
  'S3::BucketPolicy PolicyDocument.Statement[].Resource.Fn::Join': 'one more element',
  'S3::BucketPolicy PolicyDocument.Statement[].Resource[].Fn::Join': 'one more element',
  'S3ObjectCopy ContentHash': 'removed, another text',
  'S3ObjectCopy SourceObjectKey': 'removed, another text',
};
const guarded =
  /EnvironmentVariables\.(\w+_TABLE|\w+_SECRET_ID|METRICS_NAMESPACE|EDGE_HEADER|SERVICE_NAME|UPSTREAM_(2_)?BASE_URL|UPSTREAM_NAMES|CLIENT_ADDRESS)$/;

test('every change of every value of a web function is marked, except those known to be harmless', () => {
  const types = /^(AWS::Lambda::WebFunction|AWS::S3::|Custom::)/;
  const parts = Object.entries(both.Resources ?? {}).flatMap(([id, { Metadata: _, ...resource }]) =>
    types.test(resource.Type) ? [[id, resource]] : [],
  );
  const base: Template = { Resources: Object.fromEntries(parts) };
  const unmarked = new Map<string, Set<string>>();
  for (const { place, how, after } of everyChange(base)) {
    if (findDangers(compareTemplates(base, after)).length > 0) continue;
    const short = place.replace(/^(AWS|Custom)::/, '');
    unmarked.set(short, (unmarked.get(short) ?? new Set()).add(how));
  }
  const found = [...unmarked].map(([place, hows]) => [place, [...hows].join(', ')] as const);
  expect(found.filter(([place]) => place.startsWith('Lambda') && guarded.test(place))).toEqual([]);
  const free = /EnvironmentVariables\.\w+$|^S3ObjectCopy Configuration|DependsOn/;
  expect(Object.fromEntries(found.filter(([place]) => !free.test(place)))).toEqual(passes);
});
