import { expect, test } from '@jest/globals';
import { compareTemplates } from '../../lib/diff/changes.ts';
import { type Grant, sayGrant } from '../../lib/diff/grants.ts';
import { comparePermissions } from '../../lib/diff/permissions.ts';
import { PRICES } from '../support/prices.ts';
import { synthesizeParts, synthesizeStack } from '../support/stack.ts';
import { everything, onWeb } from '../support/whole-template.ts';

// The snapshot shows a deployment with default settings; the other tests, what settings change.
test('the template changes only on purpose', () => {
  const neutral = JSON.stringify(synthesizeStack().template.toJSON()).replace(/[0-9a-f]{64}\.zip/g, 'HASH.zip');
  expect(JSON.parse(neutral)).toMatchSnapshot();
});

const company = {
  ...{ APP_URL: 'https://keys.example.com', OIDC_ISSUER: 'https://login.example.com' },
  ...{ OIDC_CLIENT_ID: 'gateway', OIDC_ALLOW_ALL: true },
};
const domain = {
  edge: true,
  edgeDomainName: 'api.example.com',
  edgeCertificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-aaaa',
};
const money = { PRICES, CURRENCY: 'EUR', MEMBER_BUDGET: 0.5, MEMBER_BUDGET_WINDOW: 'day', SPEND_LIMIT: 20 };
const limits = { reservedConcurrency: 50, tracing: true, logRetentionDays: 7, slowFirstByte: 7.5, GUEST_LIMIT: 0 };
const commit = '0123456789abcdef0123456789abcdef01234567-dirty';

const usual = synthesizeParts();
const rich = synthesizeParts(
  { ...company, ...domain, ...money, ...limits, CONTEXT_WINDOW: 262_144, canary: true, terminationProtection: true },
  { commit },
);
const keysOnly = synthesizeParts({ ACCESS: 'keys', APP_URL: company.APP_URL, GATEWAY_URL: 'https://other.example' });
const withCanary = synthesizeParts({ canary: true });
const withCdn = synthesizeParts({ EDGE_HEADER: 'x-real-ip', WALLET_SIGN_IN: 'false', APP_URL: company.APP_URL });
const web = synthesizeParts({ engine: 'web' });

const told = ({ parts }: typeof usual, name: string) => parts[name].Environment.Variables;

test.each([
  [{ ...everything, ...onWeb }, ['SMG4', 'CFR1', 'CFR3', 'S1', 'IAM5', 'IAM5', 'IAM5', 'IAM5']],
  [
    { ...company, ...money, ...limits, edge: true, canary: true },
    ['SMG4', 'CFR1', 'CFR2', 'CFR3', 'CFR4', 'IAM5', 'IAM5', 'IAM5'],
  ],
])("with %j it follows AWS's rules for solutions, except %j, acknowledged with a reason", (settings, rules) => {
  const { acknowledged } = synthesizeStack({ ...settings }, { isJudged: true });
  expect(acknowledged.map((rule) => rule.replace(/^AwsSolutions-|\[.*/g, '')).sort()).toEqual(rules.toSorted());
});

test('is a separate stack for each stage, tagged, and protected if the stage says so', () => {
  const { stack } = usual;
  expect([stack.stackName, stack.terminationProtection]).toEqual(['InferenceGateway-dev', false]);
  expect(stack.tags.tagValues()).toEqual({ service: 'svc', stage: 'dev' });
  expect(rich.stack.terminationProtection).toBe(true);
});

test('settings limit and trace the functions, and set the logs’ retention and what is slow', () => {
  const traced = { TracingConfig: { Mode: 'Active' } };
  expect(rich.parts['Gateway/Function']).toMatchObject({ ReservedConcurrentExecutions: 50, ...traced });
  expect(rich.parts['Wallet/Function']).toMatchObject({ ReservedConcurrentExecutions: 10, ...traced });
  for (const name of ['Gateway/Logs', 'Wallet/Logs']) expect(rich.parts[name].RetentionInDays).toBe(7);
  expect(rich.parts['Alarms/UpstreamSlow'].AlarmDescription).toContain('One stream in ten waits 7.5 s');
});

const may = (role: string, resource: string, ...actions: readonly string[]) =>
  actions.map((action) => `${role} may ${action} on ${resource}`);
const mayLog = (role: string, logs: string) => may(role, logs, 'logs:CreateLogStream', 'logs:PutLogEvents');
const mayRead = (role: string, secret: string) => may(role, `Secrets/${secret}`, 'secretsmanager:GetSecretValue');
const mayCount = (role: string) => may(role, 'Tables/Quota', 'dynamodb:GetItem', 'dynamodb:UpdateItem');

/** A stack where nobody can sign in. */
const notSignedIn = [
  ...may('Wallet/Role', 'Tables/Keys', 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'),
  ...mayCount('Wallet/Role'),
];

test.each<[what: string, stack: typeof usual, more: string[], fewer: string[]]>([
  ['for keys alone', keysOnly, [], notSignedIn],
  ['behind a CDN', withCdn, [...mayRead('Gateway/Role', 'Edge'), ...mayRead('Wallet/Role', 'Edge')], notSignedIn],
  ['with a canary', withCanary, [...mayLog('Canary/Role', 'Canary/Logs'), ...mayRead('Canary/Role', 'Canary')], []],
  [
    'with everything',
    rich,
    [
      ...[...mayLog('Canary/Role', 'Canary/Logs'), ...mayRead('Canary/Role', 'Canary')],
      ...[
        ...mayRead('Gateway/Role', 'Edge'),
        ...mayRead('Wallet/Role', 'Edge'),
        ...mayRead('Wallet/Role', 'OidcClient'),
      ],
      ...['Canary', 'Gateway', 'Wallet'].flatMap((name) =>
        may(`${name}/Role`, '*', 'xray:PutTelemetryRecords', 'xray:PutTraceSegments'),
      ),
    ],
    [],
  ],
  [
    'on the web engine',
    web,
    [
      ...['Web/LocalLogs', 'Web/Logs'].flatMap((logs) => mayLog('Web/Role', logs)),
      ...[...may('Web/Role', 'Tables/Keys', 'dynamodb:GetItem'), ...mayCount('Web/Role')],
      ...[...mayRead('Web/Role', 'NetworkSalt'), ...mayRead('Web/Role', 'Upstream')],
    ],
    [],
  ],
])(
  '%s roles have exactly these additional or missing permissions',
  (_what, { template, parts, namesOfType }, more, fewer) => {
    const { gained, lost } = comparePermissions(usual.template, template);
    const ofRoles = (grants: readonly Grant[]) =>
      grants.map(sayGrant).filter((grant) => /^(Gateway|Wallet|Canary|Web)\/Role/.test(grant));
    expect(ofRoles(gained).sort()).toEqual(more.sort());
    const roles = namesOfType('AWS::IAM::Role');
    expect(
      ofRoles(lost)
        .filter((grant) => roles.some((role) => grant.startsWith(role)))
        .sort(),
    ).toEqual(fewer.sort());
    for (const role of roles) {
      expect(Object.keys(parts[role])).toEqual(expect.not.arrayContaining(['ManagedPolicyArns', 'Policies']));
    }
  },
);

test('the function of /cli is told where the gateway is, and what its page shows', () => {
  const edge = { EDGE_HEADER: 'cloudfront-viewer-address', EDGE_SECRET_ID: 'Secrets/Edge' };
  const shown = { GUEST_LIMIT: '0', CONTEXT_WINDOW: '262144', APP_URL: company.APP_URL, DEPLOYED_COMMIT: commit };
  expect({ GATEWAY_URL: undefined, ...told(rich, 'Wallet/Function') }).toMatchObject({
    ...{ ...edge, ...shown, GATEWAY_URL: undefined },
  });
  const elsewhere = { APP_URL: company.APP_URL, GATEWAY_URL: 'https://other.example' };
  expect(told(keysOnly, 'Wallet/Function')).toMatchObject(elsewhere);
  expect(told(web, 'Wallet/Function').GATEWAY_URL).toBe('https://Web/Function/Endpoint.DomainName/');
});

test('another CDN gets a secret of its own, and takes the place of the distribution', () => {
  const header = { EDGE_HEADER: 'x-real-ip', EDGE_SECRET_ID: 'Secrets/Edge' };
  expect(told(withCdn, 'Gateway/Function')).toMatchObject(header);
  expect(withCdn.outputs.EdgeSecret).toEqual({ Value: 'Secrets/Edge' });
  expect(withCdn.parts).not.toHaveProperty('Edge/Distribution');
});

test('operators’ commands find in the outputs what settings have created', () => {
  const values = ({ outputs }: typeof usual) =>
    Object.fromEntries(Object.entries<{ Value: string }>(outputs).map(([name, { Value }]) => [name, Value]));
  const own = {
    ...{ ContextWindow: '262144', OidcIssuer: company.OIDC_ISSUER, OidcClientSecret: 'Secrets/OidcClient' },
    ...{
      AppUrl: company.APP_URL,
      Currency: 'EUR',
      MemberBudget: '0.5/day',
      ReservedByDefault: expect.stringMatching(/^\{"svc":\d+,/),
      CanarySecret: 'Secrets/Canary',
    },
    ...{ EdgeSecret: 'Secrets/Edge', Commit: commit },
  };
  expect(values(rich)).toMatchObject(own);
  for (const name of Object.keys(own)) expect(values(usual)).not.toHaveProperty(name);
  // Even if nobody can sign in there is /cli, with client setup for people who have keys.
  const closed = { Access: 'keys', WalletUrl: expect.stringMatching(/cli$/) };
  expect(values(keysOnly)).toMatchObject(closed);
  for (const stack of [keysOnly, withCdn]) expect(values(stack)).not.toHaveProperty('AppUrl');
});

test('the deployed commit is a tag, and known to both functions', () => {
  expect(rich.stack.tags.tagValues()).toMatchObject({ commit });
  expect(told(rich, 'Gateway/Function').DEPLOYED_COMMIT).toBe(commit);
});

test('the canary adds to the stack, and changes nothing that was there except the dashboard', () => {
  const { template, parts, stack } = withCanary;
  const { resources, others } = compareTemplates(usual.template, template);
  const changed = resources.filter(({ kind }) => kind !== 'added').map(({ name }) => name);
  expect(changed).toEqual(['Dashboard/Dashboard']);
  expect(others.map(({ path }) => path)).toEqual(['Outputs.CanarySecret']);
  expect(parts['Canary/Function']).toMatchObject({ Timeout: 60, Runtime: 'nodejs24.x', Architectures: ['arm64'] });
  expect(told(withCanary, 'Canary/Function')).toEqual({
    CANARY_URL: 'Gateway/Function/FunctionUrl.FunctionUrl',
    CANARY_SECRET_ID: 'Secrets/Canary',
    SERVICE_NAME: 'svc',
    METRICS_NAMESPACE: stack.stackName,
  });
  // Empty until the operator fills it in.
  expect(parts['Secrets/Canary']).toMatchObject({ DeletionPolicy: 'Retain', SecretString: '{"key":""}' });
});

test('the canary runs every five minutes, through the edge if there is one', () => {
  expect(rich.parts['Canary/Schedule']).toMatchObject({
    ...{ ScheduleExpression: 'rate(5 minutes)', State: 'ENABLED' },
    Targets: [{ Arn: 'Canary/Function.Arn', Id: 'Target0', RetryPolicy: { MaximumRetryAttempts: 0 } }],
  });
  const invoked = 'events.amazonaws.com may lambda:InvokeFunction on Canary/Function, if ';
  const { gained } = comparePermissions(usual.template, rich.template);
  expect(gained.map(sayGrant)).toContainEqual(expect.stringContaining(invoked));
  expect(told(rich, 'Canary/Function').CANARY_URL).toBe('https://api.example.com/');
});
