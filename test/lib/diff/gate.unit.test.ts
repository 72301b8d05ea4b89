import { describe, expect, test } from '@jest/globals';
import { compareTemplates } from '../../../lib/diff/changes.ts';
import { judgeTemplate } from '../../../lib/diff/guarantees/index.ts';
import { findDangers } from '../../../lib/diff/judge.ts';
import { partsOf, type Template } from '../../../lib/diff/template.ts';
import { onWeb, synthesizeWhole } from '../../support/whole-template.ts';

// biome-ignore lint/suspicious/noExplicitAny: the tests reach into templates as deep as they please
type Any = any;

const base = synthesizeWhole();

const ids = Object.fromEntries(partsOf(base).map(({ id, name }) => [name, id]));

/** The properties of the resource with this name, to be changed. */
const propertiesIn = (template: Any, name: string): Any => {
  const id = ids[name];
  if (id === undefined) throw new Error(`there is no ${name} among ${Object.keys(ids).join(', ')}`);
  return template.Resources[id].Properties;
};
const resourceIn = (template: Any, name: string): Any => template.Resources[ids[name] ?? ''];
const without = (template: Any, ...names: string[]) => {
  for (const name of names) delete template.Resources[ids[name] ?? name];
};

function dangersOf(change: (template: Any) => void, before: Template = base): string[] {
  const after = structuredClone(before);
  change(after);
  expect(JSON.stringify(after)).not.toBe(JSON.stringify(before));
  return findDangers(compareTemplates(before, after)).map(
    ({ refused, where, what }) => `${refused ? 'REFUSED ' : ''}${where}: ${what}`,
  );
}

const everybody = { Effect: 'Allow', Principal: '*', Action: 'dynamodb:Scan', Resource: '*' };
const variables = (template: Any, name = 'Gateway/Function') => propertiesIn(template, name).Environment.Variables;
const behavior = (template: Any) => propertiesIn(template, 'Edge/Distribution').DistributionConfig.DefaultCacheBehavior;
const replica = (template: Any, table = 'Tables/Keys') => propertiesIn(template, table).Replicas[0];
const statements = (template: Any, role = 'Gateway/Role') =>
  propertiesIn(template, `${role}/DefaultPolicy`).PolicyDocument.Statement;
const alarms = (template: Any): Any[] =>
  Object.values<Any>(template.Resources).filter(({ Type }) => Type === 'AWS::CloudWatch::Alarm');

type Row = readonly [what: string, change: (template: Any) => void, marked: RegExp];

const dangerous: readonly Row[] = [
  // durable
  ['no recovery at all', (t) => delete replica(t).PointInTimeRecoverySpecification, /no longer durable/],
  [
    'recovery switched off',
    (t) => (replica(t).PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled = false),
    /Tables\/Keys: no longer durable: can't be restored/,
  ],
  [
    'recovery of one day',
    (t) => (replica(t, 'Tables/Quota').PointInTimeRecoverySpecification.RecoveryPeriodInDays = 1),
    /Tables\/Quota: no longer durable: can't be restored to any second of the last 35 days/,
  ],
  ['no protection from deletion', (t) => (replica(t).DeletionProtectionEnabled = false), /durable: can be deleted/],
  ['no word of protection', (t) => delete replica(t).DeletionProtectionEnabled, /durable: can be deleted/],
  [
    'a second region without protection',
    (t) => propertiesIn(t, 'Tables/Keys').Replicas.push({ Region: 'eu-west-1' }),
    /durable: can be deleted/,
  ],
  ['a table deleted with the stack', (t) => (resourceIn(t, 'Tables/Keys').DeletionPolicy = 'Delete'), /durable/],
  ['a table deleted when replaced', (t) => delete resourceIn(t, 'Tables/Quota').UpdateReplacePolicy, /durable/],
  ['a secret deleted with the stack', (t) => delete resourceIn(t, 'Secrets/Upstream').DeletionPolicy, /durable/],
  [
    'a new salt',
    (t) => (propertiesIn(t, 'Secrets/NetworkSalt').GenerateSecretString.PasswordLength = 32),
    /Secrets\/NetworkSalt: no longer durable: is overwritten/,
  ],
  [
    "the upstream's keys written over",
    (t) => (propertiesIn(t, 'Secrets/Upstream').SecretString = '{"UPSTREAM_API_KEYS":"key"}'),
    /overwritten/,
  ],
  ['an abandoned table', (t) => without(t, 'Tables/Quota'), /Tables\/Quota: the stack gives up this table/],
  ['an abandoned secret', (t) => without(t, 'Secrets/Edge'), /the stack gives up this secret/],
  ['a stack that can be deleted', (t) => (t.Stack.terminationProtection = false), /durable: can be deleted/],
  ['another stack', (t) => (t.Stack.name = 'Other'), /is another stack/],
  [
    'items that expire by another attribute',
    (t) => (propertiesIn(t, 'Tables/Keys').TimeToLiveSpecification.AttributeName = 'createdAt'),
    /deletes other items by itself/,
  ],
  ['items that never expire', (t) => delete propertiesIn(t, 'Tables/Quota').TimeToLiveSpecification, /durable/],
  [
    'a new table without protection',
    (t) => {
      t.Resources.More = structuredClone(resourceIn(t, 'Tables/Quota'));
      t.Resources.More.Properties.Replicas[0].DeletionProtectionEnabled = false;
    },
    /: not durable: can be deleted/,
  ],
  // exact
  ['counters elsewhere', (t) => (variables(t).QUOTA_TABLE = 'mine'), /exact: counts in another table/],
  ['keys elsewhere', (t) => (variables(t).KEYS_TABLE = { Ref: ids['Tables/Quota'] }), /exact: looks for keys/],
  ["the wallet's keys elsewhere", (t) => (variables(t, 'Wallet/Function').KEYS_TABLE = 'x'), /Wallet.*exact/],
  ['another salt', (t) => (variables(t).NETWORK_SALT_SECRET_ID = 'other'), /exact: hashes networks with another salt/],
  ['a salt in the template', (t) => (variables(t).NETWORK_SALT = 'sixteen letters!'), /exact: hashes networks/],
  ['no index', (t) => propertiesIn(t, 'Tables/Keys').GlobalSecondaryIndexes.pop(), /exact: loses an index/],
  ['bounded throughput', (t) => (propertiesIn(t, 'Tables/Quota').BillingMode = 'PROVISIONED'), /exact/],
  [
    'addresses from elsewhere',
    (t) => (variables(t).EDGE_HEADER = 'x-forwarded-for'),
    /exact: takes callers' addresses/,
  ],
  // private
  [
    'a table that anybody may scan',
    (t) => (replica(t).ResourcePolicy = { PolicyDocument: { Statement: [everybody] } }),
    /permissions: widens a permission: anyone may dynamodb:Scan on Tables\/Keys/,
  ],
  [
    'a secret that anybody may read',
    (t) => {
      const ResourcePolicy = { Statement: [{ ...everybody, Action: 'secretsmanager:GetSecretValue' }] };
      t.Resources.Open = {
        Type: 'AWS::SecretsManager::ResourcePolicy',
        Properties: { SecretId: { Ref: ids['Secrets/Upstream'] }, ResourcePolicy },
      };
    },
    /anyone may secretsmanager:GetSecretValue on Open/,
  ],
  ['one more action', (t) => (statements(t)[1].Action = ['dynamodb:GetItem', 'dynamodb:Scan']), /may dynamodb:Scan on/],
  ['every action', (t) => (statements(t)[1].Action = 'dynamodb:*'), /Role may dynamodb:\* on Tables\/Keys/],
  ['every resource', (t) => (statements(t)[1].Resource = '*'), /may dynamodb:GetItem on \*/],
  [
    'a role that somebody else may assume',
    (t) =>
      propertiesIn(t, 'Gateway/Role').AssumeRolePolicyDocument.Statement.push({
        Effect: 'Allow',
        Action: 'sts:AssumeRole',
        Principal: { AWS: 'arn:aws:iam::999999999999:root' },
      }),
    /widens a permission: arn:aws:iam::999999999999:root may sts:AssumeRole on Gateway\/Role/,
  ],
  ['a managed policy', (t) => (propertiesIn(t, 'Wallet/Role').ManagedPolicyArns = ['arn:admin']), /policies elsewhere/],
  [
    'a new role with a managed policy',
    (t) => (t.Resources.More = { Type: 'AWS::IAM::Role', Properties: { ManagedPolicyArns: ['arn:admin'] } }),
    /More: not private: gets permissions from policies elsewhere/,
  ],
  [
    'a new schedule with a role from elsewhere',
    (t) => {
      t.Resources.More = structuredClone(resourceIn(t, 'Canary/Schedule'));
      t.Resources.More.Properties.Targets = [{ Id: 'x', Arn: 'arn:other', RoleArn: 'arn:admin' }];
    },
    /not private: runs something with rights from elsewhere/,
  ],
  [
    'a permission without its condition',
    (t) => {
      const permissions = Object.values<Any>(t.Resources).filter(({ Type }) => Type === 'AWS::Lambda::Permission');
      for (const { Properties } of permissions) delete Properties.InvokedViaFunctionUrl;
    },
    /widens a permission: anyone may lambda:InvokeFunction on Gateway\/Function/,
  ],
  [
    'a topic to which anyone may publish',
    (t) => delete propertiesIn(t, 'Alarms/Topic/Policy').PolicyDocument.Statement[1].Condition,
    /widens a permission: cloudwatch.amazonaws.com may sns:Publish/,
  ],
  [
    'alarms without TLS',
    (t) => propertiesIn(t, 'Alarms/Topic/Policy').PolicyDocument.Statement.shift(),
    /no longer denied/,
  ],
  [
    'a cache at the edge',
    (t) => (behavior(t).CachePolicyId = '658327ea-f89d-4fab-a63d-7e88639e58f6'),
    /Edge\/Distribution: no longer private: caches answers/,
  ],
  ['a cache by its own words', (t) => (behavior(t).ForwardedValues = { QueryString: false }), /ForwardedValues/],
  ['no TLS', (t) => (behavior(t).ViewerProtocolPolicy = 'allow-all'), /private: opens the network/],
  [
    'no web ACL',
    (t) => delete propertiesIn(t, 'Edge/Distribution').DistributionConfig.WebACLId,
    /private: opens the network: it has another web ACL/,
  ],
  [
    'a way around the CDN',
    (t) => delete variables(t).EDGE_SECRET_ID,
    /private: recognizes requests through the CDN by another secret/,
  ],
  [
    'no proof from the CDN',
    (t) => delete propertiesIn(t, 'Edge/Distribution').DistributionConfig.Origins[0].OriginCustomHeaders,
    /OriginCustomHeaders/,
  ],
  ['another upstream', (t) => (variables(t).UPSTREAM_BASE_URL = 'https://elsewhere.example/v1'), /private: sends/],
  ['another second upstream', (t) => (variables(t).UPSTREAM_2_BASE_URL = 'https://x.example'), /private: sends/],
  ["the upstream's key in a template", (t) => (variables(t).UPSTREAM_API_KEYS = 'key'), /UPSTREAM_API_KEYS/],
  ['a name that is shown', (t) => (variables(t).UPSTREAM_NAMES = 'model-x'), /private: no longer hides a name/],
  ['TLS that is not checked', (t) => (variables(t).NODE_TLS_REJECT_UNAUTHORIZED = '0'), /NODE_TLS_REJECT_UNAUTHORIZED/],
  ['a store elsewhere', (t) => (variables(t).AWS_ENDPOINT_URL_DYNAMODB = 'https://x.example'), /AWS_ENDPOINT_URL/],
  ['code that others brought', (t) => (propertiesIn(t, 'Gateway/Function').Layers = ['arn:layer']), /Layers/],
  [
    'a copy of every item for somebody else',
    (t) => (replica(t).KinesisStreamSpecification = { StreamArn: 'arn:elsewhere' }),
    /KinesisStreamSpecification/,
  ],
  [
    'one more way in',
    (t) => (t.Resources.Door = { Type: 'AWS::Lambda::Url', Properties: { AuthType: 'NONE', InvokeMode: 'BUFFERED' } }),
    /Door: opens the network/,
  ],
  [
    'other code with the rights of the gateway',
    (t) => {
      t.Resources.More = structuredClone(resourceIn(t, 'Gateway/Function'));
      t.Resources.More.Properties.Code.S3Key = 'other.zip';
    },
    /: not private: has the rights of another function/,
  ],
  [
    'another role',
    (t) => (propertiesIn(t, 'Gateway/Function').Role = 'arn:admin'),
    /Gateway\/Function: no longer private: has the rights of another role/,
  ],
  [
    'thinking that may name the upstream',
    (t) => (variables(t).UPSTREAM_SIGNS_THINKING = 'true'),
    /private: no longer hides names in thinking/,
  ],
  // reachable
  [
    'buffered answers',
    (t) => (propertiesIn(t, 'Gateway/Function/FunctionUrl').InvokeMode = 'BUFFERED'),
    /reachable: holds every answer back/,
  ],
  [
    'no word of streaming',
    (t) => delete propertiesIn(t, 'Gateway/Function/FunctionUrl').InvokeMode,
    /reachable: holds every answer back/,
  ],
  [
    'signed requests only',
    (t) => (propertiesIn(t, 'Gateway/Function/FunctionUrl').AuthType = 'AWS_IAM'),
    /reachable: is closed to callers/,
  ],
  [
    'a URL that nobody may call',
    (t) => without(t, 'Gateway/Function/invoke-function-url'),
    /takes a permission away: anyone may lambda:InvokeFunctionUrl on Gateway\/Function/,
  ],
  ['no URL', (t) => without(t, 'Gateway/Function/FunctionUrl'), /FunctionUrl: is removed/],
  [
    'a URL of another function',
    (t) => (propertiesIn(t, 'Gateway/Function/FunctionUrl').TargetFunctionArn = 'arn:other'),
    /leads to another function|(be|is) replaced/,
  ],
  ['no executions', (t) => (propertiesIn(t, 'Gateway/Function').ReservedConcurrentExecutions = 0), /answers nobody/],
  [
    'changed executions, which would undo an emergency stop',
    (t) => {
      propertiesIn(t, 'Gateway/Function').ReservedConcurrentExecutions = 200;
      propertiesIn(t, 'Alarms/NearingConcurrency').Threshold = 160;
    },
    /Gateway\/Function: no longer bounded: gets executions again if it was stopped by hand/,
  ],
  [
    'unlimited executions',
    (t) => delete propertiesIn(t, 'Gateway/Function').ReservedConcurrentExecutions,
    /nothing bounds the cost of a flood/,
  ],
  ['a way around the CDN', (t) => (variables(t).EDGE_ONLY = 'false'), /private: opens the network: callers may bypass/],
  // bounded
  ['an empty limit of the deployment', (t) => (variables(t).DAILY_LIMIT = ''), /any number of requests a day/],
  [
    'no limit of the deployment',
    (t) => delete variables(t).DAILY_LIMIT,
    /bounded: answers any number of requests a day/,
  ],
  [
    'no limit of guests or of the deployment',
    (t) => {
      delete variables(t).DAILY_LIMIT;
      delete variables(t).GUEST_DAILY_LIMIT;
    },
    /bounded: answers any number of guests a day/,
  ],
  ['three seconds', (t) => (propertiesIn(t, 'Gateway/Function').Timeout = 3), /stopped in the middle of requests/],
  ['no time at all', (t) => delete propertiesIn(t, 'Wallet/Function').Timeout, /stopped in the middle of requests/],
  ['a longer request', (t) => (variables(t).REQUEST_TIMEOUT = '1000'), /stopped in the middle of requests/],
  ['an older Node', (t) => (propertiesIn(t, 'Gateway/Function').Runtime = 'nodejs20.x'), /changes Runtime/],
  ['another handler', (t) => (propertiesIn(t, 'Gateway/Function').Handler = 'index.main'), /changes Handler/],
  ['a network of its own', (t) => (propertiesIn(t, 'Gateway/Function').VpcConfig = { SubnetIds: ['a'] }), /VpcConfig/],
  ['no writing of charges', (t) => (statements(t)[2].Action = 'dynamodb:GetItem'), /takes a permission away/],
  ['no reading of secrets', (t) => statements(t).pop(), /away: Gateway\/Role may secretsmanager:GetSecretValue/],
  [
    'a denial',
    (t) => statements(t).push({ Effect: 'Deny', Action: 'dynamodb:UpdateItem', Resource: '*' }),
    /takes a permission away: denied/,
  ],
  ['other model ids', (t) => (variables(t).SERVICE_NAME = 'other'), /reachable: has models and headers by other names/],
  [
    'no domain',
    (t) => (propertiesIn(t, 'Edge/Distribution').DistributionConfig.Aliases = []),
    /no longer answers at a domain/,
  ],
  ['held-back events', (t) => (behavior(t).Compress = true), /reachable: holds the events/],
  ['an edge that is off', (t) => (propertiesIn(t, 'Edge/Distribution').DistributionConfig.Enabled = false), /Enabled/],
  [
    'an edge that does not wait',
    (t) => {
      const [origin] = propertiesIn(t, 'Edge/Distribution').DistributionConfig.Origins;
      origin.CustomOriginConfig.OriginReadTimeout = 20;
    },
    /reachable: cuts streams/,
  ],
  ['a longer silence than the edge allows', (t) => (variables(t).KEEP_ALIVE_INTERVAL = '90'), /cuts streams/],
  ['one output fewer', (t) => delete t.Outputs.KeysTable, /the outputs: no longer reachable/],
  ['a condition', (t) => (resourceIn(t, 'Gateway/Function').Condition = 'Never'), /changes Condition/],
  // watched
  ['one alarm fewer', (t) => without(t, 'Alarms/UpstreamFailing'), /Alarms\/UpstreamFailing: is removed/],
  [
    'no alarm at all',
    (t) => {
      for (const [id, { Type }] of Object.entries<Any>(t.Resources)) if (/Alarm$/.test(Type)) delete t.Resources[id];
    },
    /is removed/,
  ],
  [
    'alarms that notify nobody',
    (t) => {
      for (const { Properties } of alarms(t)) delete Properties.AlarmActions;
    },
    /no longer watched: notifies nobody/,
  ],
  ['an alarm switched off', (t) => (alarms(t)[0].Properties.ActionsEnabled = false), /watched: notifies nobody/],
  [
    'an alarm that notifies somebody else',
    (t) => (alarms(t)[0].Properties.AlarmActions = ['arn:x']),
    /no longer notifies everyone/,
  ],
  ['a threshold out of reach', (t) => (alarms(t)[0].Properties.Threshold = 1e9), /watched: rings later/],
  ['a patient alarm', (t) => (alarms(t)[0].Properties.EvaluationPeriods = 100), /EvaluationPeriods/],
  [
    'an upstream that may fail more',
    (t) => (propertiesIn(t, 'Alarms/UpstreamFailing').Threshold = 50),
    /Alarms\/UpstreamFailing: no longer watched: rings later/,
  ],
  [
    'an upstream that may be slower',
    (t) => (propertiesIn(t, 'Alarms/UpstreamSlow').Threshold = 60_000),
    /watched: rings later/,
  ],
  ['an alarm that always rings', (t) => (alarms(t)[0].Properties.Threshold = 0), /watched: always rings/],
  [
    'an alarm that waits for more',
    (t) => (propertiesIn(t, 'Alarms/UpstreamFailing').DatapointsToAlarm = 3),
    /Alarms\/UpstreamFailing: no longer watched: rings later/,
  ],
  [
    'an alarm that waits for all',
    (t) => delete propertiesIn(t, 'Alarms/UpstreamFailing').DatapointsToAlarm,
    /Alarms\/UpstreamFailing: no longer watched: rings later/,
  ],
  [
    'tries that are not counted',
    (t) => (propertiesIn(t, 'Alarms/UpstreamDown').Metrics[1].MetricStat.Metric.MetricName = 'Nothing'),
    /Alarms\/UpstreamDown: changes Metrics/,
  ],
  [
    'another expression',
    (t) => (propertiesIn(t, 'Alarms/UpstreamFailing').Metrics[0].Expression = 'FILL(0 * failed, 0)'),
    /Alarms\/UpstreamFailing: changes Metrics/,
  ],
  ['an outage that nobody is told about', (t) => without(t, 'Alarms/UpstreamDown'), /Alarms\/UpstreamDown: is removed/],
  ['another metric', (t) => (propertiesIn(t, 'Alarms/NearingConcurrency').MetricName = 'Nothing'), /MetricName/],
  [
    'an alarm only when all executions are taken',
    (t) => (propertiesIn(t, 'Alarms/NearingConcurrency').Threshold = 100),
    /watched: always rings, or only once/,
  ],
  [
    'fewer executions than the threshold of the alarm',
    (t) => (propertiesIn(t, 'Gateway/Function').ReservedConcurrentExecutions = 50),
    /Alarms\/NearingConcurrency: no longer watched/,
  ],
  [
    'an edge without metrics of single statuses',
    (t) => {
      const { MonitoringSubscription } = propertiesIn(t, 'Edge/Distribution/MonitoringSubscription');
      MonitoringSubscription.RealtimeMetricsSubscriptionConfig.RealtimeMetricsSubscriptionStatus = 'Disabled';
    },
    /watched: does not report the share of each status/,
  ],
  ['a disabled canary', (t) => (propertiesIn(t, 'Canary/Schedule').State = 'DISABLED'), /watched: never runs/],
  [
    'a canary that runs once a day',
    (t) => (propertiesIn(t, 'Canary/Schedule').ScheduleExpression = 'rate(1 day)'),
    /Canary\/Schedule: no longer watched: asks the gateway at other times/,
  ],
  [
    'a canary at another address',
    (t) => (variables(t, 'Canary/Function').CANARY_URL = 'https://x.example/'),
    /asks another/,
  ],
  ['no canary', (t) => without(t, 'Canary/Function', 'Canary/Schedule'), /Canary\/Function: is removed/],
  [
    'silence that does not ring',
    (t) => (propertiesIn(t, 'Alarms/CanaryFailing').TreatMissingData = 'notBreaching'),
    /Alarms\/CanaryFailing: changes TreatMissingData/,
  ],
  ['nobody to notify', (t) => without(t, ids['Alarms/Topic/on-call@example.com'] ?? ''), /is removed/],
  ['metrics elsewhere', (t) => (variables(t).METRICS_NAMESPACE = 'Other'), /watched: sends its metrics/],
  ['lines without metrics', (t) => (propertiesIn(t, 'Gateway/Function').LoggingConfig.LogFormat = 'JSON'), /watch/],
  ['an alarm that is off', (t) => (alarms(t)[0].Properties.ActionsEnabled = 'false'), /watched: notifies nobody/],
  ['no dashboard', (t) => without(t, 'Dashboard/Dashboard'), /is removed/],
];

const refused: readonly Row[] = [
  [
    'another key',
    (t) => (propertiesIn(t, 'Tables/Keys').KeySchema[0].AttributeName = 'id'),
    /^REFUSED Tables\/Keys: no longer exact: has another key/,
  ],
  [
    'another type of key',
    (t) => (propertiesIn(t, 'Tables/Quota').AttributeDefinitions[0].AttributeType = 'N'),
    /^REFUSED Tables\/Quota: no longer exact: has another key/,
  ],
  [
    'a table by another name',
    (t) => (propertiesIn(t, 'Tables/Quota').TableName = 'quota'),
    /^REFUSED Tables\/Quota: replaces this table by an empty one/,
  ],
];

const harmless: readonly (readonly [what: string, change: (template: Any) => void])[] = [
  ['other code', (t) => (propertiesIn(t, 'Gateway/Function').Code.S3Key = `${'a'.repeat(64)}.zip`)],
  ['a limit', (t) => (variables(t).GUEST_LIMIT = '5')],
  ['a new setting', (t) => (variables(t).MODEL_ALIASES = 'gpt-*=svc')],
  ['one setting fewer', (t) => delete variables(t).UPSTREAM_SIGNS_THINKING],
  ['another model', (t) => (variables(t).UPSTREAM_2_TEXT_MODEL = 'newer')],
  ['one more name to hide', (t) => (variables(t).UPSTREAM_NAMES = 'model-x,vendor,third')],
  ['more memory', (t) => (propertiesIn(t, 'Gateway/Function').MemorySize = 1024)],
  ['a shorter request', (t) => (variables(t).REQUEST_TIMEOUT = '300')],
  ['logs for a year', (t) => (propertiesIn(t, 'Gateway/Logs').RetentionInDays = 365)],
  ['another dashboard', (t) => (propertiesIn(t, 'Dashboard/Dashboard').DashboardBody = '{}')],
  ["the dashboard's name", (t) => delete propertiesIn(t, 'Dashboard/Dashboard').DashboardName],
  ['traces', (t) => (propertiesIn(t, 'Gateway/Function').TracingConfig = { Mode: 'Active' })],
  ['a description', (t) => (propertiesIn(t, 'Secrets/Upstream').Description = 'Keys')],
  ["an alarm's words", (t) => (alarms(t)[0].Properties.AlarmDescription = 'x')],
  [
    'another commit',
    (t) => {
      t.Stack.tags.commit = 'abc';
      t.Outputs.Commit = { Value: 'abc' };
      for (const name of ['Gateway/Function', 'Wallet/Function']) variables(t, name).DEPLOYED_COMMIT = 'abc';
    },
  ],
  ['one more output', (t) => (t.Outputs.More = { Value: 'x' })],
  ['a stricter alarm', (t) => (propertiesIn(t, 'Alarms/UpstreamFailing').Threshold = 5)],
  ['an alarm that waits for less', (t) => (propertiesIn(t, 'Alarms/UpstreamFailing').DatapointsToAlarm = 1)],
  ['one more alarm', (t) => (t.Resources.More = structuredClone(alarms(t)[0]))],
  ['metadata of the CDK', (t) => (resourceIn(t, 'Tables/Keys').Metadata.more = 'x')],
  [
    'the same permissions in two policies',
    (t) => {
      t.Resources.Second = structuredClone(resourceIn(t, 'Gateway/Role/DefaultPolicy'));
      t.Resources.Second.Properties.PolicyDocument.Statement = [statements(t).pop()];
    },
  ],
  ['a new table that keeps everything', (t) => (t.Resources.More = structuredClone(resourceIn(t, 'Tables/Quota')))],
];

describe('the gate, on the whole template', () => {
  test('finds nothing if nothing changes', () => {
    expect(findDangers(compareTemplates(base, structuredClone(base)))).toEqual([]);
  });

  test.each(dangerous)('marks %s', (_what, change, marked) => {
    expect(dangersOf(change)).toEqual(expect.arrayContaining([expect.stringMatching(marked)]));
  });

  test.each(refused)('refuses %s', (_what, change, marked) => {
    expect(dangersOf(change)).toEqual([expect.stringMatching(marked)]);
  });

  test.each(harmless)('lets %s pass', (_what, change) => {
    expect(dangersOf(change)).toEqual([]);
  });

  test('lets lost protection be restored', () => {
    for (const [what, change] of dangerous.filter(([, , marked]) => /durable: can/.test(String(marked)))) {
      const lost = structuredClone(base);
      change(lost);
      expect([what, findDangers(compareTemplates(lost, base)).filter(({ what: why }) => /durable/.test(why))]).toEqual([
        what,
        [],
      ]);
    }
  });
});

describe('a stopped gateway, which is an item in the keys table, would serve again', () => {
  test.each<[string, (template: Any) => void]>([
    ['reading another table', (t) => (variables(t).KEYS_TABLE = 'other')],
    ['reading no table', (t) => delete variables(t).KEYS_TABLE],
    ['with a renamed key', (t) => (propertiesIn(t, 'Tables/Keys').KeySchema[0].AttributeName = 'id')],
    ['without the table in the stack', (t) => without(t, 'Tables/Keys')],
    ['as another function', (t) => (propertiesIn(t, 'Gateway/Function/FunctionUrl').TargetFunctionArn = 'arn:other')],
  ])('%s: never unmarked', (_, change) => {
    expect(dangersOf(change)).not.toEqual([]);
  });
});

test('limits may change, and guests get a fifth of the deployment’s without their own', () => {
  expect(dangersOf((t) => (variables(t).DAILY_LIMIT = '20000'))).toEqual([]);
  expect(dangersOf((t) => delete variables(t).GUEST_DAILY_LIMIT)).toEqual([]);
});

describe('what the synthesis says of a template, whatever was deployed before', () => {
  test('a mistake in the code of the stack is a fault, which stops it', () => {
    const broken = structuredClone(base) as Any;
    replica(broken).DeletionProtectionEnabled = false;
    propertiesIn(broken, 'Gateway/Function/FunctionUrl').InvokeMode = 'BUFFERED';
    expect(judgeTemplate(broken)).toEqual({
      faults: [
        'Tables/Keys is not durable: can be deleted by a single command',
        'Gateway/Function/FunctionUrl is not reachable: holds every answer back until it is whole',
      ],
      warnings: [],
    });
  });

  test.each([
    [{ logRetentionDays: 1 }, /^\w+\/Logs is not watched: forgets within days what happened$/],
    [{ logRetentionDays: 400 }, /^\w+\/Logs is not private: tells for more than a year/],
    [{ memorySize: 128 }, /^Gateway\/Function is not reachable: has less than the 256 MB/],
    [{ reservedConcurrency: 1 }, /^Alarms\/NearingConcurrency is not watched: always rings/],
    [{ ...onWeb, rateLimit: 0 }, /^Web\/Function\/Endpoint is not reachable: answers nobody/],
  ])('%j is an operator’s choice, of which it warns', (settings, warning) => {
    const { faults, warnings } = judgeTemplate(synthesizeWhole(settings));
    expect(faults).toEqual([]);
    expect(warnings.length).toBeGreaterThan(0);
    for (const one of warnings) expect(one).toMatch(warning);
  });
});
