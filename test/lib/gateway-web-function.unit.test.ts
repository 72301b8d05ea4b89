import { expect, test } from '@jest/globals';
import { serverSettings } from '../../lambda/settings/table.ts';
import { synthesizeParts } from '../support/stack.ts';

const usual = synthesizeParts();
const commit = '0123456789abcdef0123456789abcdef01234567';
const { parts, outputs, template, namesOfType } = synthesizeParts({ engine: 'web' }, { commit });

test('runs the server on Node 24, 64 requests at once, for as long as Lambda allows', () => {
  expect(parts['Web/Function/Revision']).toMatchObject({
    BuildConfig: { RuntimeConfig: { Runtime: 'nodejs24.x' } },
    ServiceConfig: {
      ...{ ExecutionRoleArn: 'Web/Role.Arn', MaxConcurrencyPerEnvironment: 64, TimeoutSeconds: 900 },
      TelemetryConfig: { LoggingConfig: { LogGroup: 'Web/Logs' } },
    },
  });
});

test('gets the function’s settings by the same names, and those of a server', () => {
  expect(parts['Web/Function/Revision'].ServiceConfig.EnvironmentVariables).toEqual({
    ...usual.parts['Gateway/Function'].Environment.Variables,
    DEPLOYED_COMMIT: commit,
    CLIENT_ADDRESS: 'x-forwarded-for',
    BODY_BUDGET: serverSettings.BODY_BUDGET.fallback,
    SHUTDOWN_GRACE: serverSettings.SHUTDOWN_GRACE.fallback,
  });
});

test('all log groups have a retention, and its own are created before it runs', () => {
  for (const name of namesOfType('AWS::Logs::LogGroup')) expect(parts[name].RetentionInDays).toBe(30);
  expect(parts['Web/LocalLogs'].LogGroupName).toBe('Web/Logs.local');
  const idOf = (prefix: string) => Object.keys(template.Resources ?? {}).find((id) => id.startsWith(prefix));
  const first = ['WebLocalLogs', 'WebRoleDefaultPolicy'].map(idOf);
  expect(parts['Web/Function/Revision'].DependsOn).toEqual(expect.arrayContaining(first));
});

test('the endpoint is open to everyone, in its own region, and is the address in the outputs', () => {
  const endpoint = parts['Web/Function/Endpoint'];
  expect(endpoint).toMatchObject({ AuthType: 'ApplicationManaged', EndpointType: 'HomeRegion' });
  expect(Object.keys(endpoint)).toEqual(expect.not.arrayContaining(['ScalingConfig', 'ThrottleConfig']));
  expect(outputs.GatewayUrl.Value).toBe('https://Web/Function/Endpoint.DomainName/');
  expect(outputs.LogGroup.Value).toBe('Web/Logs');
});

test('the limits are those in the settings', () => {
  const limits = { maxConcurrency: 128, maxEnvironments: 20, rateLimit: 0, BODY_BUDGET: 512 };
  const limited = synthesizeParts({ engine: 'web', ...limits }).parts;
  expect(limited['Web/Function/Endpoint']).toMatchObject({
    ScalingConfig: { MaxEnvironments: 20 },
    ThrottleConfig: { RateLimit: 0 },
  });
  expect(limited['Web/Function/Revision'].ServiceConfig).toMatchObject({
    MaxConcurrencyPerEnvironment: 128,
    EnvironmentVariables: { BODY_BUDGET: '512' },
  });
});

test('no two stacks of an account use the same name, even in different regions', () => {
  const names = namesOfType('AWS::Lambda::WebFunction').map((name) => parts[name].FunctionName);
  expect(names).toEqual(['InferenceGateway-dev-AWS::Region']);
});

test('the page /cli keeps its own function and address', () => {
  const kept = ['Wallet/Function/FunctionUrl', 'Wallet/Logs', 'Wallet/Role', 'Wallet/Role/DefaultPolicy'];
  for (const name of kept) expect([name, parts[name]]).toEqual([name, usual.parts[name]]);
  expect(outputs.WalletUrl).toEqual(usual.outputs.WalletUrl);
});

test('the endpoint’s failures ring, by the only metric name that is documented, and of functions only /cli is watched', () => {
  const documented = `SELECT SUM(HTTPResponseStatusClass5XX) FROM "AWS/Lambda/Web" WHERE FunctionName = 'InferenceGateway-dev-`;
  expect(JSON.stringify(parts['Alarms/WebFailing'].Metrics)).toContain(JSON.stringify(documented).slice(1, -1));
  const text = JSON.stringify(parts);
  const named = text.split('AWS/Lambda/Web').length;
  expect(text.split(/SELECT SUM\(HTTPResponseStatusClass5XX\) FROM \\+"AWS\/Lambda\/Web/)).toHaveLength(named);
  const gone = usual.namesOfType('AWS::CloudWatch::Alarm').filter((name) => !(name in parts));
  const ofFunction = ['FunctionErrors', 'FunctionThrottled', 'NearingConcurrency', 'UrlFailing'];
  expect(gone).toEqual(ofFunction.map((name) => `Alarms/${name}`));
});

test('the dashboard reads its log', () => {
  const text: string = parts['Dashboard/Dashboard'].DashboardBody;
  expect(text).toContain("SOURCE 'Web/Logs'");
  // Lambda adds the billed duration to the logs of functions only.
  const [compute = ''] = /Dollars an hour: compute.+?@billedDuration/.exec(text) ?? [];
  expect(compute).toContain("SOURCE 'Wallet/Logs'");
  expect(compute).not.toContain('Web/Logs');
});

test('behind the edge it is the origin, and /cli goes where it went before', () => {
  const originsOf = (engine: string) =>
    synthesizeParts({ engine, edge: true }).parts['Edge/Distribution'].DistributionConfig.Origins;
  const [[main, ...others], [wasMain, ...wereOthers]] = ['web', 'function-url'].map(originsOf);
  expect(others).toEqual(wereOthers);
  expect(main).toEqual({ ...wasMain, DomainName: 'Web/Function/Endpoint.DomainName', Id: expect.any(String) });
});
