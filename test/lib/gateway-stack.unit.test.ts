import { expect, test } from '@jest/globals';
import { compareTemplates } from '../../lib/diff/changes.ts';
import { comparePermissions } from '../../lib/diff/permissions.ts';
import { PRICES } from '../support/prices.ts';
import { synthesizeParts, synthesizeStack } from '../support/stack.ts';
import { onWeb, synthesizeWhole } from '../support/whole-template.ts';

// What a deployment without settings is like, the snapshot shows; the other tests, what settings make of it.
test('the template changes only on purpose', () => {
  const neutral = JSON.stringify(synthesizeStack().template.toJSON()).replace(/[0-9a-f]{64}\.zip/g, 'HASH.zip');
  expect(JSON.parse(neutral)).toMatchSnapshot();
});

const usual = synthesizeParts();
const company = { APP_URL: 'https://api.example.com', OIDC_ISSUER: 'https://login.example.com' };
const signIn = { ...company, OIDC_CLIENT_ID: 'gateway', OIDC_ALLOW_ALL: true };
const domain = {
  edge: true,
  edgeDomainName: 'api.example.com',
  edgeCertificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-aaaa',
  edgeWebAclArn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/gateway/0a1b2c3d-aaaa',
};

test.each([
  [{}, ['SMG4']],
  [{ canary: true }, ['SMG4']],
  [{ reservedConcurrency: 50, tracing: true }, ['SMG4', 'IAM5', 'IAM5']],
  [domain, ['SMG4', 'CFR1', 'CFR3']],
  [{ edge: true }, ['SMG4', 'CFR1', 'CFR2', 'CFR3', 'CFR4']],
  [{ engine: 'web' }, ['SMG4', 'S1', 'IAM5', 'IAM5', 'IAM5', 'IAM5']],
])("with %j it follows AWS's rules for solutions, except %j, acknowledged with a reason", (settings, rules) => {
  const { acknowledged } = synthesizeStack(settings);
  expect(acknowledged.map((rule) => rule.replace(/^AwsSolutions-|\[.*/g, '')).sort()).toEqual(rules.toSorted());
});

test.each([{}, onWeb])("with everything turned on, and %j, it follows the CDK's own rules", (settings) => {
  const { Resources = {} } = synthesizeWhole(settings, true);
  expect(Object.keys(Resources).length).toBeGreaterThan(30);
});

test('is a separate stack for each stage, tagged, and protected if the stage says so', () => {
  const { stack } = usual;
  expect([stack.stackName, stack.terminationProtection]).toEqual(['InferenceGateway-dev', false]);
  expect(stack.tags.tagValues()).toEqual({ service: 'svc', stage: 'dev' });
  expect(synthesizeStack({ terminationProtection: true }).stack.terminationProtection).toBe(true);
});

test('settings bound and trace the functions, and say how long logs are kept and what is slow', () => {
  const { parts } = synthesizeParts({
    reservedConcurrency: 50,
    tracing: true,
    logRetentionDays: 7,
    slowFirstByte: 7.5,
  });
  const traced = { TracingConfig: { Mode: 'Active' } };
  expect(parts['Gateway/Function']).toMatchObject({ ReservedConcurrentExecutions: 50, ...traced });
  expect(parts['Wallet/Function']).toMatchObject({ ReservedConcurrentExecutions: 10, ...traced });
  for (const name of ['Gateway/Logs', 'Wallet/Logs']) expect(parts[name].RetentionInDays).toBe(7);
  expect(parts['Alarms/UpstreamSlow'].AlarmDescription).toContain('One stream in ten waits 7.5 s');
});

const logsOf = (role: string, logs: string) =>
  ['CreateLogStream', 'PutLogEvents'].map((action) => `${role} may logs:${action} on ${logs}`);
const mayRead = (role: string, secret: string) => `${role} may secretsmanager:GetSecretValue on Secrets/${secret}`;

test.each<[settings: object, more: string[], fewer: string[]]>([
  [
    { ACCESS: 'keys' },
    [],
    [
      ...['GetItem', 'PutItem', 'UpdateItem'].map((action) => `Wallet/Role may dynamodb:${action} on Tables/Keys`),
      ...['GetItem', 'UpdateItem'].map((action) => `Wallet/Role may dynamodb:${action} on Tables/Quota`),
    ],
  ],
  [signIn, [mayRead('Wallet/Role', 'OidcClient')], []],
  [{ EDGE_HEADER: 'x-real-ip' }, [mayRead('Gateway/Role', 'Edge'), mayRead('Wallet/Role', 'Edge')], []],
  [{ canary: true }, [...logsOf('Canary/Role', 'Canary/Logs'), mayRead('Canary/Role', 'Canary')], []],
  [
    { engine: 'web' },
    [
      ...['Web/LocalLogs', 'Web/Logs'].flatMap((logs) => logsOf('Web/Role', logs)),
      'Web/Role may dynamodb:GetItem on Tables/Keys',
      ...['GetItem', 'UpdateItem'].map((action) => `Web/Role may dynamodb:${action} on Tables/Quota`),
      ...['NetworkSalt', 'Upstream'].map((secret) => mayRead('Web/Role', secret)),
    ],
    [],
  ],
])('with %j roles may do exactly this more, or less', (settings, more, fewer) => {
  const { template, parts, namesOfType } = synthesizeParts({ ...settings });
  const { widened, narrowed } = comparePermissions(usual.template, template);
  expect(widened.filter((grant) => /^(Gateway|Wallet|Canary|Web)\/Role/.test(grant)).sort()).toEqual(more.sort());
  expect(narrowed).toEqual(fewer);
  for (const role of namesOfType('AWS::IAM::Role')) {
    expect(Object.keys(parts[role])).toEqual(expect.not.arrayContaining(['ManagedPolicyArns', 'Policies']));
  }
});

test.each<[settings: object, variables: object]>([
  [
    { GUEST_LIMIT: 0, CONTEXT_WINDOW: 262_144 },
    { GUEST_LIMIT: '0', CONTEXT_WINDOW: '262144' },
  ],
  [
    { APP_URL: company.APP_URL, GATEWAY_URL: 'https://other.example' },
    { APP_URL: company.APP_URL, GATEWAY_URL: 'https://other.example' },
  ],
  [{ engine: 'web' }, { GATEWAY_URL: 'https://Web/Function/Endpoint.DomainName/' }],
  [
    domain,
    {
      APP_URL: 'https://api.example.com',
      GATEWAY_URL: undefined,
      EDGE_HEADER: 'cloudfront-viewer-address',
      EDGE_SECRET_ID: 'Secrets/Edge',
    },
  ],
])('with %j the function of /cli is told so', (settings, variables) => {
  const { Variables } = synthesizeParts({ ...settings }).parts['Wallet/Function'].Environment;
  expect({ GATEWAY_URL: undefined, ...Variables }).toMatchObject(variables);
});

test('another CDN gets a secret of its own', () => {
  const { parts, outputs } = synthesizeParts({ EDGE_HEADER: 'x-real-ip' });
  const told = { EDGE_HEADER: 'x-real-ip', EDGE_SECRET_ID: 'Secrets/Edge' };
  expect(parts['Gateway/Function'].Environment.Variables).toMatchObject(told);
  expect(outputs.EdgeSecret).toEqual({ Value: 'Secrets/Edge' });
});

test.each<[settings: object, output: string, value: string | undefined]>([
  [{ CONTEXT_WINDOW: 262_144 }, 'ContextWindow', '262144'],
  [signIn, 'OidcIssuer', company.OIDC_ISSUER],
  [{ APP_URL: company.APP_URL }, 'AppUrl', company.APP_URL],
  [{ PRICES, CURRENCY: 'EUR' }, 'Currency', 'EUR'],
  [{ PRICES, MEMBER_BUDGET: 0.5, MEMBER_BUDGET_WINDOW: 'day' }, 'MemberBudget', '0.5/day'],
  [{ ACCESS: 'keys' }, 'Access', 'keys'],
  // In place of /cli, which a gateway for keys alone does not have.
  [{ ACCESS: 'keys' }, 'WalletUrl', 'Wallet/Function/FunctionUrl.FunctionUrl'],
  [{ canary: true }, 'CanarySecret', 'Secrets/Canary'],
])('with %j, programs of the operator find %s', (settings, output, value) => {
  expect(synthesizeParts({ ...settings }).outputs[output]).toEqual({ Value: value });
  expect(usual.outputs[output]).not.toEqual({ Value: value });
});

test.each([{ ACCESS: 'keys' }, { WALLET_SIGN_IN: 'false' }])('with %j no output says where to sign in', (settings) => {
  expect(synthesizeParts({ APP_URL: company.APP_URL, ...settings }).outputs).not.toHaveProperty('AppUrl');
});

test('the deployed commit is in an output, a tag and both functions’ environment', () => {
  const commit = '0123456789abcdef0123456789abcdef01234567-dirty';
  const { parts, outputs, stack } = synthesizeParts({}, { commit });
  expect(outputs.Commit).toEqual({ Value: commit });
  expect(stack.tags.tagValues()).toMatchObject({ commit });
  for (const name of ['Gateway/Function', 'Wallet/Function']) {
    expect(parts[name].Environment.Variables.DEPLOYED_COMMIT).toBe(commit);
  }
});

test('the canary adds to the stack, and changes nothing that was there except the dashboard', () => {
  const { template, parts, stack } = synthesizeParts({ canary: true });
  const { resources, others } = compareTemplates(usual.template, template);
  const changed = resources.filter(({ kind }) => kind !== 'added').map(({ name }) => name);
  expect(changed).toEqual(['Dashboard/Dashboard']);
  expect(others.map(({ path }) => path)).toEqual(['Outputs.CanarySecret']);
  expect(parts['Canary/Function']).toMatchObject({ Timeout: 60, Runtime: 'nodejs24.x', Architectures: ['arm64'] });
  expect(parts['Canary/Function'].Environment.Variables).toEqual({
    CANARY_URL: 'Gateway/Function/FunctionUrl.FunctionUrl',
    CANARY_SECRET_ID: 'Secrets/Canary',
    SERVICE_NAME: 'svc',
    METRICS_NAMESPACE: stack.stackName,
  });
  // Empty until the operator fills it in.
  expect(parts['Secrets/Canary']).toMatchObject({ DeletionPolicy: 'Retain', SecretString: '{"key":""}' });
});

test('the canary runs every five minutes, through the edge if there is one', () => {
  const { parts, template } = synthesizeParts({ canary: true, ...domain });
  expect(parts['Canary/Schedule']).toMatchObject({
    ...{ ScheduleExpression: 'rate(5 minutes)', State: 'ENABLED' },
    Targets: [{ Arn: 'Canary/Function.Arn', Id: 'Target0', RetryPolicy: { MaximumRetryAttempts: 0 } }],
  });
  const invoked = 'events.amazonaws.com may lambda:InvokeFunction on Canary/Function, if ';
  expect(comparePermissions(usual.template, template).widened).toContainEqual(expect.stringContaining(invoked));
  expect(parts['Canary/Function'].Environment.Variables.CANARY_URL).toBe('https://api.example.com/');
});
