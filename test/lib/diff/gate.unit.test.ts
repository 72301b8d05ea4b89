import { describe, expect, test } from '@jest/globals';
import { compareTemplates } from '../../../lib/diff/changes.ts';
import { judgeTemplate } from '../../../lib/diff/guarantees/index.ts';
import { findDangers } from '../../../lib/diff/judge.ts';
import { type AnyTree, type Change, createTemplateEditor, dangersOf } from '../../support/template-changes.ts';
import { everything, onWeb, synthesizeWhole } from '../../support/whole-template.ts';

const base = synthesizeWhole();
const { propertiesIn, resourceIn, remove, dangersBetween } = createTemplateEditor(base);
const asItIs: Change = () => {};

const everybody = { Effect: 'Allow', Principal: '*', Action: 'dynamodb:Scan', Resource: '*' };
const variables = (template: AnyTree, name = 'Gateway/Function') => propertiesIn(template, name).Environment.Variables;
const replica = (template: AnyTree, table = 'Tables/Keys') => propertiesIn(template, table).Replicas[0];
const statements = (template: AnyTree, role = 'Gateway/Role') =>
  propertiesIn(template, `${role}/DefaultPolicy`).PolicyDocument.Statement;
const add = (template: AnyTree, Type: string, Properties: object) => (template.Resources.More = { Type, Properties });
const copy = (template: AnyTree, name: string): AnyTree =>
  (template.Resources.More = structuredClone(resourceIn(template, name)));

/** What the CDK does if a table's construct gets another id: it is another table, and every reference points to that. */
function renameTable(template: AnyTree, name: string): void {
  const [id = ''] =
    Object.entries<AnyTree>(template.Resources).find(([, one]) => one === resourceIn(template, name)) ?? [];
  const { [id]: table, ...others } = template.Resources;
  table.Metadata['aws:cdk:path'] = 'InferenceGateway/Tables/Renamed/Resource';
  template.Resources = JSON.parse(
    JSON.stringify({ ...others, [`${id}Renamed`]: table }).replaceAll(`"${id}"`, `"${id}Renamed"`),
  );
}

type Row = readonly [what: string, change: Change, marked: RegExp];

// Changes of a single value are in every-change.unit.test.ts; these take more than one.
const dangerous: readonly Row[] = [
  // durable
  [
    'an unprotected region',
    (t) => propertiesIn(t, 'Tables/Keys').Replicas.push({ Region: 'x' }),
    /durable: can be deleted/,
  ],
  ['an abandoned table', (t) => remove(t, 'Tables/Quota'), /Tables\/Quota: is no longer part of the stack/],
  [
    'a new table without protection',
    (t) => (copy(t, 'Tables/Quota').Properties.Replicas[0].DeletionProtectionEnabled = false),
    /: not durable: can be deleted/,
  ],
  // exact
  ['a salt in the template', (t) => (variables(t).NETWORK_SALT = 'sixteen letters!'), /exact: hashes networks/],
  // private
  [
    'a table that anybody may scan',
    (t) => (replica(t).ResourcePolicy = { PolicyDocument: { Statement: [everybody] } }),
    /permissions: new: anyone may dynamodb:Scan on Tables\/Keys/,
  ],
  [
    'a secret that anybody may read',
    (t) => {
      const ResourcePolicy = { Statement: [{ ...everybody, Action: 'secretsmanager:GetSecretValue' }] };
      add(t, 'AWS::SecretsManager::ResourcePolicy', { SecretId: 'arn:of:secret', ResourcePolicy });
    },
    /anyone may secretsmanager:GetSecretValue on More/,
  ],
  ['names in texts', (t) => (variables(t).HIDE_IN_TEXT = 'none'), /private: no longer hides names in what the model/],
  [
    'one more action',
    (t) => (statements(t)[1].Action = ['dynamodb:GetItem', 'dynamodb:Scan']),
    /^permissions: new: Gateway\/Role may dynamodb:Scan on Tables\/Keys$/,
  ],
  [
    'one action fewer, which the function may need',
    (t) => statements(t)[2].Action.pop(),
    /^permissions: gone: Gateway\/Role may dynamodb:UpdateItem on Tables\/Quota$/,
  ],
  [
    'a role that somebody else may assume',
    (t) =>
      propertiesIn(t, 'Gateway/Role').AssumeRolePolicyDocument.Statement.push({
        ...{ Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { AWS: 'arn:aws:iam::999999999999:root' } },
      }),
    /permissions: new: arn:aws:iam::999999999999:root may sts:AssumeRole on Gateway\/Role/,
  ],
  [
    'a new role with a managed policy',
    (t) => add(t, 'AWS::IAM::Role', { ManagedPolicyArns: ['arn:admin'] }),
    /More: not private: gets permissions from policies elsewhere/,
  ],
  [
    'a new schedule with a role from elsewhere',
    (t) => (copy(t, 'Canary/Schedule').Properties.Targets = [{ Id: 'x', Arn: 'arn:other', RoleArn: 'arn:admin' }]),
    /not private: runs something with rights from elsewhere/,
  ],
  [
    'a topic to which anyone may publish',
    (t) => delete propertiesIn(t, 'Alarms/Topic/Policy').PolicyDocument.Statement[1].Condition,
    /permissions: new: cloudwatch.amazonaws.com may sns:Publish/,
  ],
  ["the upstream's key in a template", (t) => (variables(t).UPSTREAM_API_KEYS = 'key'), /UPSTREAM_API_KEYS/],
  ['TLS that is not checked', (t) => (variables(t).NODE_TLS_REJECT_UNAUTHORIZED = '0'), /NODE_TLS_REJECT_UNAUTHORIZED/],
  ['one more way in', (t) => add(t, 'AWS::Lambda::Url', { AuthType: 'NONE' }), /More: is new, and may be a way in/],
  [
    'other code with the rights of the gateway',
    (t) => (copy(t, 'Gateway/Function').Properties.Code.S3Key = 'other.zip'),
    /: not private: has the rights of another function/,
  ],
  // reachable
  [
    'changed executions, which would undo an emergency stop',
    (t) => {
      propertiesIn(t, 'Gateway/Function').ReservedConcurrentExecutions = 200;
      propertiesIn(t, 'Alarms/NearingConcurrency').Threshold = 160;
    },
    /Gateway\/Function: no longer bounded: gets executions again if it was stopped by hand/,
  ],
  ['a way around the CDN', (t) => (variables(t).EDGE_ONLY = 'false'), /private: opens the network: callers may bypass/],
  // bounded
  ['an empty limit of the deployment', (t) => (variables(t).DAILY_LIMIT = ''), /any number of requests a day/],
  [
    'no limit of guests or of the deployment',
    (t) => {
      delete variables(t).DAILY_LIMIT;
      delete variables(t).GUEST_DAILY_LIMIT;
    },
    /bounded: answers any number of guests a day/,
  ],
  [
    'a denial',
    (t) => statements(t).push({ Effect: 'Deny', Action: 'dynamodb:UpdateItem', Resource: '*' }),
    /permissions: new: Gateway\/Role may not dynamodb:UpdateItem on \*/,
  ],
  ['a longer silence than the edge allows', (t) => (variables(t).KEEP_ALIVE_INTERVAL = '90'), /cuts streams/],
  // watched
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
    /^REFUSED Tables\/Quota: is replaced by an empty one/,
  ],
  [
    'a table whose construct has another name',
    (t) => renameTable(t, 'Tables/Keys'),
    /^REFUSED Tables\/Renamed: is new, and so empty, but KEYS_TABLE points to it: first deploy it beside the old one/,
  ],
  [
    'a counter’s table whose construct has another name, and functions too',
    (t) => {
      renameTable(t, 'Tables/Quota');
      copy(t, 'Gateway/Function');
      remove(t, 'Gateway/Function');
    },
    /^REFUSED Tables\/Renamed: is new, and so empty, but QUOTA_TABLE points to it/,
  ],
];

const harmless: readonly (readonly [what: string, change: Change])[] = [
  ['a new setting', (t) => (variables(t).MODEL_ALIASES = 'gpt-*=svc')],
  ['one more name to hide', (t) => (variables(t).UPSTREAM_NAMES = 'model-x,vendor,third')],
  ['traces', (t) => (propertiesIn(t, 'Gateway/Function').TracingConfig = { Mode: 'Active' })],
  [
    'another commit',
    (t) => {
      t.Stack.tags.commit = 'abc';
      t.Outputs.Commit = { Value: 'abc' };
      for (const name of ['Gateway/Function', 'Wallet/Function']) variables(t, name).DEPLOYED_COMMIT = 'abc';
    },
  ],
  ['a stricter alarm', (t) => (propertiesIn(t, 'Alarms/UpstreamFailing').Threshold = 5)],
  ['an alarm that waits for less', (t) => (propertiesIn(t, 'Alarms/UpstreamFailing').DatapointsToAlarm = 1)],
  ['one more alarm', (t) => copy(t, 'Alarms/UpstreamFailing')],
  ['metadata of the CDK', (t) => (resourceIn(t, 'Tables/Keys').Metadata.more = 'x')],
  [
    'the same permissions in two policies',
    (t) => (copy(t, 'Gateway/Role/DefaultPolicy').Properties.PolicyDocument.Statement = [statements(t).pop()]),
  ],
  [
    'the same permissions said one by one',
    (t) => {
      const [statement] = statements(t).splice(2, 1);
      for (const Action of statement.Action) statements(t).push({ ...statement, Action, Sid: 'x' });
    },
  ],
  ['a new table that keeps everything', (t) => copy(t, 'Tables/Quota')],
];

describe('the gate, on the whole template', () => {
  test('finds nothing if nothing changes', () => {
    expect(dangersOf(base, structuredClone(base))).toEqual([]);
  });

  test.each(dangerous)('marks %s', (_what, change, marked) => {
    expect(dangersBetween(asItIs, change)).toEqual(expect.arrayContaining([expect.stringMatching(marked)]));
  });

  test.each(refused)('refuses %s', (_what, change, marked) => {
    expect(dangersBetween(asItIs, change)).toContainEqual(expect.stringMatching(marked));
  });

  test.each(harmless)('lets %s pass', (_what, change) => {
    expect(dangersBetween(asItIs, change)).toEqual([]);
  });

  const edge = {
    on: /^edge: is turned on: .*; Gateway\/Function, Wallet\/Function: no longer exact: .*; Edge\/Distribution: is new, .*; permissions: new: Gateway\/Role, Wallet\/Role may \S+ on Secrets\/Edge$/,
    off: /^edge: is turned off: .*; Secrets\/Edge: is no longer part of the stack .*; the outputs: no longer reachable: lead clients to another/,
  };
  const canary = {
    on: /^permissions: new: with Canary: lambda\.amazonaws\.com may sts:AssumeRole .*; Canary\/Role may .*;/,
    off: /^canary: is turned off: .*; Secrets\/Canary: is no longer part of the stack .*, Canary\/Function, .*: is removed; .*; permissions: gone: /,
  };
  const tracing = {
    on: /^permissions: new: Gateway\/Role, Wallet\/Role may xray:PutTelemetryRecords, xray:PutTraceSegments on \*$/,
    off: /^permissions: gone: Gateway\/Role, .* may xray:PutTelemetryRecords, xray:PutTraceSegments on \*$/,
  };
  const access = {
    on: /^ACCESS: is keys, was open; .*: turns away everyone without a key, .*; permissions: gone: Wallet\/Role may .*Tables\/Keys; .*Tables\/Quota$/,
    off: /^ACCESS: is open, was keys; .*: it serves anyone, .*; permissions: new: Wallet\/Role may .* on Tables\/Keys; permissions: new: /,
  };
  const company = {
    APP_URL: 'https://a.test',
    OIDC_ISSUER: 'https://b.test',
    OIDC_CLIENT_ID: 'c',
    OIDC_ALLOWED_DOMAINS: 'd.test',
  };
  const signIn = {
    on: /^OIDC_ISSUER: is turned on: .*; Gateway\/Function, Wallet\/Function: no longer private: changes who may sign in: .*; permissions: new: Wallet\/Role may \S+ on Secrets\/OidcClient$/,
    off: /^OIDC_ISSUER: is turned off: .*; Secrets\/OidcClient: is no longer part of the stack .*; permissions: gone: Wallet\/Role may /,
  };
  const without = { edge: false, edgeDomainName: '', edgeCertificateArn: '', edgeWebAclArn: '', canary: false };
  test.each([
    ['OIDC_ISSUER', company, [signIn]],
    [
      'edge, canary, tracing and ACCESS',
      { ...everything, tracing: true, ACCESS: 'keys' },
      [edge, canary, tracing, access],
    ],
    ['one that changes little', { MEMBER_LIMIT: 60 }, []],
  ])('reports each decision on one line: %s', (_what, more, said) => {
    const [plain, other] = [synthesizeWhole(without), synthesizeWhole({ ...without, ...more })];
    expect(dangersOf(plain, other)).toEqual(said.map(({ on }) => expect.stringMatching(on)));
    expect(dangersOf(other, plain)).toEqual(said.map(({ off }) => expect.stringMatching(off)));
  });

  test('joins only what follows from a decision, and nothing that is refused', () => {
    const [plain, behind] = [synthesizeWhole(without), structuredClone(base) as AnyTree];
    variables(behind).UPSTREAM_BASE_URL = 'https://elsewhere.example';
    statements(behind)[1].Action = ['dynamodb:GetItem', 'dynamodb:Scan'];
    propertiesIn(behind, 'Tables/Keys').KeySchema[0].AttributeName = 'id';
    behind.Outputs.KeysTable.Value = 'another';
    expect(dangersOf(plain, behind)).toEqual([
      expect.stringMatching(/^REFUSED Tables\/Keys: no longer exact: has another key/),
      expect.stringMatching(/^Gateway\/Function: no longer private: sends prompts/),
      expect.stringMatching(/^the outputs: no longer reachable: have lost or changed a value/),
      'permissions: new: Gateway/Role may dynamodb:Scan on Tables/Keys',
      expect.stringMatching(edge.on),
      expect.stringMatching(canary.on),
    ]);
  });

  test('joins consequences in another stack, such as that of the edge’s alarms', () => {
    const [plain, other] = [synthesizeWhole(without), synthesizeWhole({ ...without, ...everything, canary: false })];
    const topic = Object.entries<AnyTree>(base.Resources ?? {}).filter(([id]) => /^AlarmsTopic/.test(id));
    const alarms = {
      Resources: Object.fromEntries(topic),
      Stack: { ...base.Stack, name: 'Some-edge-alarms' },
    } as AnyTree;
    expect(findDangers(compareTemplates(plain, other), compareTemplates({}, alarms))).toEqual([
      {
        ...{ refused: false, where: 'edge' },
        what: expect.stringMatching(
          /^is turned on: .*; permissions: new: cloudwatch\.amazonaws\.com may sns:Publish on /,
        ),
      },
    ]);
  });

  test('lists the exceptions of a permission', () => {
    const add = (t: AnyTree, statement: object) => {
      propertiesIn(t, 'Alarms/Topic/Policy').PolicyDocument.Statement.push({ Effect: 'Allow', ...statement });
    };
    const except: Change = (t) =>
      add(t, { NotPrincipal: { AWS: 'me' }, NotAction: ['sns:A', 'sns:B'], NotResource: 'x' });
    expect(dangersBetween(asItIs, except)).toEqual([
      'permissions: new: all but me may all but sns:A, sns:B on all but x',
    ]);
  });

  test('reports several parts with the same finding on one line', () => {
    const wide = (t: AnyTree) => {
      for (const role of ['Gateway/Role', 'Wallet/Role']) {
        statements(t, role).push({ Effect: 'Allow', Action: ['xray:A', 'xray:B'], Resource: '*' });
      }
    };
    expect(dangersBetween(asItIs, wide)).toEqual([
      'permissions: new: Gateway/Role, Wallet/Role may xray:A, xray:B on *',
    ]);
  });

  test('needs no approval for the parts of a new stack that every stack has', () => {
    expect(dangersOf({}, { Outputs: { A: {} }, ...base, Resources: {} })).toEqual([]);
    expect(dangersOf({}, { ...base, Resources: {}, ...{ Transform: 'x' } })).toEqual([
      expect.stringMatching(/^the template: is new/),
    ]);
  });

  test('needs no approval for a new topic’s denials, but for what it allows', () => {
    const topic = Object.entries<AnyTree>(base.Resources ?? {}).filter(([id]) => /^AlarmsTopic/.test(id));
    const before = structuredClone(base) as AnyTree;
    for (const [id] of topic) delete before.Resources[id];
    expect(dangersOf(before, base).filter((danger) => danger.startsWith('permissions: '))).toEqual([
      expect.stringMatching(/^permissions: new: cloudwatch\.amazonaws\.com may sns:Publish on Alarms\/Topic/),
    ]);
  });

  test('lets lost protection be restored', () => {
    expect(dangersBetween((t) => (replica(t).DeletionProtectionEnabled = false), asItIs)).toEqual([]);
    expect(dangersBetween((t) => (t.Stack.terminationProtection = false), asItIs)).toEqual([]);
  });

  test('marks a broken guarantee that gets worse', () => {
    const keptFor =
      (days: number): Change =>
      (t) =>
        (propertiesIn(t, 'Gateway/Logs').RetentionInDays = days);
    const marked = 'Gateway/Logs: no longer private: records for more than a year who called when';
    expect(dangersBetween(keptFor(400), keptFor(3653))).toEqual([marked]);
  });

  test('marks a denial that is removed, and a URL that anyone may call', () => {
    const denied: Change = (t) => statements(t).push({ Effect: 'Deny', Action: 'dynamodb:DeleteItem', Resource: 'x' });
    expect(dangersBetween(denied, asItIs)).toEqual([
      'permissions: gone: Gateway/Role may not dynamodb:DeleteItem on x',
    ]);
    const closed: Change = (t) => (propertiesIn(t, 'Gateway/Function/FunctionUrl').AuthType = 'AWS_IAM');
    expect(dangersBetween(closed, asItIs)).toContainEqual(expect.stringContaining('opens the network'));
  });

  test('reports of a removed policy only the permissions that are lost', () => {
    const gone = dangersBetween(asItIs, (t) => remove(t, 'Wallet/Role/DefaultPolicy'));
    expect(gone).toEqual([expect.stringMatching(/^permissions: gone: Wallet\/Role may /)]);
  });

  test('marks a table that might be replaced like one that will be', () => {
    const after = structuredClone(base) as AnyTree;
    propertiesIn(after, 'Tables/Keys').BillingMode = 'PROVISIONED';
    const comparison = compareTemplates(base, after);
    const danger = { refused: false, where: 'Tables/Keys', what: 'may be replaced by an empty one' };
    expect(findDangers(comparison)).not.toContainEqual(danger);
    // CloudFormation has many properties that may cause a replacement, but today none of them is a table's.
    const resources = comparison.resources.map((resource) => ({ ...resource, replaced: 'maybe' as const }));
    expect(findDangers({ ...comparison, resources })).toContainEqual(danger);
  });
});

describe('what the synthesis says of a template, whatever was deployed before', () => {
  test('a mistake in the code of the stack is a fault, which stops it', () => {
    const broken = structuredClone(base) as AnyTree;
    replica(broken).DeletionProtectionEnabled = false;
    propertiesIn(broken, 'Gateway/Function/FunctionUrl').InvokeMode = 'BUFFERED';
    expect(judgeTemplate(broken)).toEqual({
      faults: [
        'Tables/Keys is not durable: can be deleted by a single command',
        'Gateway/Function/FunctionUrl is not reachable: buffers every answer instead of streaming it',
      ],
      warnings: [],
    });
  });

  test.each([
    [{ logRetentionDays: 1 }, /^\w+\/Logs is not watched: forgets within days what happened$/],
    [{ logRetentionDays: 400 }, /^\w+\/Logs is not private: records for more than a year/],
    [{ memorySize: 128 }, /^Gateway\/Function is not reachable: has less than the 256 MB/],
    [{ ...onWeb, rateLimit: 0 }, /^Web\/Function\/Endpoint is not reachable: answers nobody/],
  ])('%j is an operator’s choice, of which it warns', (settings, warning) => {
    const { faults, warnings } = judgeTemplate(synthesizeWhole(settings));
    expect(faults).toEqual([]);
    expect(warnings.length).toBeGreaterThan(0);
    for (const one of warnings) expect(one).toMatch(warning);
  });
});
