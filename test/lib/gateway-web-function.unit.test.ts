import { describe, expect, test } from '@jest/globals';
import { serverSettings } from '../../lambda/settings/definitions.ts';
import type { Template } from '../../lib/diff/template.ts';
import { synthesizeParts } from '../support/stack.ts';
import { type AnyTree, type Change, createTemplateEditor, dangersOf } from '../support/template-changes.ts';
import { onWeb, synthesizeWhole, synthesizeWithBothEngines } from '../support/whole-template.ts';

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
  // Lambda logs the billed duration only for functions.
  const [compute = ''] = /Dollars an hour: compute.+?@billedDuration/.exec(text) ?? [];
  expect(compute).toContain("SOURCE 'Wallet/Logs'");
  expect(compute).not.toContain('Web/Logs');
});

test('behind the edge it is the origin, and /cli is routed as before', () => {
  const originsOf = (engine: string) =>
    synthesizeParts({ engine, edge: true }).parts['Edge/Distribution'].DistributionConfig.Origins;
  const [[main, ...others], [wasMain, ...wereOthers]] = ['web', 'function-url'].map(originsOf);
  expect(others).toEqual(wereOthers);
  expect(main).toEqual({ ...wasMain, DomainName: 'Web/Function/Endpoint.DomainName', Id: expect.any(String) });
});

const functionUrl = synthesizeWhole();
const both = synthesizeWithBothEngines();
const whole = synthesizeWhole(onWeb);

/** What must not change when switching engines: the tables, the secrets, and their names in the environment. */
function holdings({ Resources = {} }: Template): object {
  const kept = Object.entries(Resources).filter(([, { Type }]) => /^AWS::(DynamoDB|SecretsManager)::/.test(Type));
  return Object.fromEntries(kept);
}

const where = ['KEYS_TABLE', 'QUOTA_TABLE', 'NETWORK_SALT_SECRET_ID', 'UPSTREAM_SECRET_ID', 'EDGE_SECRET_ID'];

function countsIn(template: Template): string[] {
  return Object.values<AnyTree>(template.Resources ?? {}).flatMap(({ Properties = {} }) => {
    const told = Properties.Environment?.Variables ?? Properties.ServiceConfig?.EnvironmentVariables;
    return told?.QUOTA_TABLE && told.UPSTREAM_BASE_URL ? [JSON.stringify(where.map((name) => told[name]))] : [];
  });
}

describe('moving from one engine to the other', () => {
  const [urlOfFunction, endpoint] = ['Gateway/Function/FunctionUrl', 'Web/Function/Endpoint'];
  test.each([
    ['function-url to web', functionUrl, whole, urlOfFunction, endpoint],
    ['web to function-url', whole, functionUrl, endpoint, urlOfFunction],
  ])(
    '%s keeps tables, secrets, counters and the page /cli as they are, and marks both ways in',
    (_, from, to, gone, come) => {
      expect(holdings(to)).toEqual(holdings(from));
      expect(new Set([...countsIn(from), ...countsIn(to)]).size).toBe(1);
      const dangers = dangersOf(from, to);
      expect(dangers).toEqual(
        expect.arrayContaining([
          expect.stringMatching(`(^|, )${gone}(, .*)?: is removed$`),
          expect.stringMatching(`${come}: is new, and may be a way in`),
        ]),
      );
      expect(
        dangers.filter((danger) => /REFUSED|(Tables|Secrets|Wallet)\/[\w/]+:|exact|durable|private/.test(danger)),
      ).toEqual([]);
    },
  );

  test('adding one adds an endpoint and its role’s permissions; nothing else changes', () => {
    const [opened, ...granted] = dangersOf(functionUrl, both);
    expect(opened).toMatch(/^Web\/Function\/Endpoint: is new, and may be a way in/);
    const ofWeb = /^(Web\/[\w/]+|lambda\.amazonaws\.com) may |^anyone may not /;
    const each = granted.flatMap((danger) => danger.replace(/^permissions: new: (with Web: )?/, '').split('; '));
    expect(each.filter((permission) => !ofWeb.test(permission))).toEqual([]);
  });

  test('new settings, limits and code pass, although each makes a new revision', () => {
    const changed = { ...onWeb, GUEST_LIMIT: 7, BODY_BUDGET: 512, maxConcurrency: 128 };
    expect(dangersOf(whole, synthesizeWhole(changed))).toEqual([]);
  });
});

const { propertiesIn, dangersBetween } = createTemplateEditor(both);
const told = (template: AnyTree) => propertiesIn(template, 'Web/Function/Revision').ServiceConfig.EnvironmentVariables;

test.each<readonly [what: string, change: Change, marked: RegExp]>([
  ['a key in a template', (t) => (told(t).UPSTREAM_API_KEYS = 'key'), /UPSTREAM_API_KEYS/],
  ['a longer request', (t) => (told(t).REQUEST_TIMEOUT = '1000'), /reachable: is stopped in the middle/],
  [
    'code that anyone may read',
    (t) =>
      propertiesIn(t, 'Web/Code/Bucket/Policy').PolicyDocument.Statement.push({
        ...{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: '*' },
      }),
    /new: anyone may s3:GetObject/,
  ],
])('the gate marks a web function with %s', (_what, change, marked) => {
  expect(dangersBetween(() => {}, change)).toEqual(expect.arrayContaining([expect.stringMatching(marked)]));
});

test('a new web function must use the tables, secrets and metrics of the function beside it', () => {
  for (const name of [...where.filter((one) => !/UPSTREAM/.test(one)), 'EDGE_HEADER', 'METRICS_NAMESPACE']) {
    const after: AnyTree = structuredClone(both);
    told(after)[name] = 'another';
    expect(dangersOf(functionUrl, after)).toContainEqual(expect.stringMatching(/^Web\/Function\/Revision: not /));
  }
});
