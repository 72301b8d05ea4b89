import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { sections, settings } from '../../lambda/settings/definitions.ts';
import { ConfigError } from '../../lambda/settings/read-settings.ts';
import { upstreamSettings } from '../../lambda/settings/upstream-definitions.ts';
import { mostBurst } from '../../lambda/store/dynamodb/schema.ts';
import { readDeploymentConfig, setByStack } from '../../lib/config.ts';
import { stackSettings } from '../../lib/stack-settings.ts';

const defaults = {
  UPSTREAM_BASE_URL: 'https://upstream.example/v1',
  UPSTREAM_TEXT_MODEL: 'text-model',
  UPSTREAM_VISION_MODEL: 'vision-model',
};
const withDefaults = (given: object) => ({ defaults: { ...defaults, ...given }, stages: { dev: {} } });

/** The faults of a block. */
function faults(block: unknown, stage?: unknown, own?: unknown): readonly string[] {
  try {
    readDeploymentConfig(block, stage, own);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

/** The faults of settings besides the required ones, without their place. */
const faultsOf = (given: object) => faults(withDefaults(given)).map(withoutPlace);
const warningsOf = (given: object) =>
  readDeploymentConfig(
    withDefaults({ UPSTREAM_BASE_URL: 'https://api.acme.com/v1', DAILY_LIMIT: 1000, ...given }),
  ).warnings.map(withoutPlace);

function withoutPlace(line: string): string {
  expect(line).toMatch(/^gateway\.(defaults|stages\.dev): /);
  return line.slice(line.indexOf(': ') + 2);
}

describe('a deployment', () => {
  test('combines its stage, the block’s defaults and the settings’ defaults, in this order of precedence', () => {
    const stages = { dev: {}, prod: { GUEST_LIMIT: 5, memorySize: 1024, UPSTREAM_TEXT_MODEL: 'other' } };
    const block = { defaults: { ...defaults, GUEST_LIMIT: 4, UPSTREAM_SIGNS_THINKING: true }, stages };
    const { environment, ...rest } = readDeploymentConfig(block, 'prod');
    expect(rest).toMatchObject({ stage: 'prod', memorySize: 1024, logRetentionDays: 30, terminationProtection: false });
    expect(environment).toMatchObject({
      ...{ UPSTREAM_TEXT_MODEL: 'other', GUEST_LIMIT: '5', UPSTREAM_SIGNS_THINKING: 'true' },
      ...{ MEMBER_LIMIT: sections.quota.MEMBER_LIMIT.fallback, CORS_ORIGINS: '*' },
    });
    expect(Object.values(environment)).not.toContain('');
    expect(Object.keys(environment).filter((name) => /^[a-z]|^KEYS_TABLE$|^METRICS_NAMESPACE$/.test(name))).toEqual([]);
  });

  test('is overridden by gateway.json, setting by setting', () => {
    const block = { defaults: { ...defaults, GUEST_LIMIT: 4, BURST_LIMIT: 4 }, stages: { dev: { memorySize: 600 } } };
    const own = {
      defaults: { GUEST_LIMIT: 5, memorySize: 700, APP_URL: 'https://app.example' },
      stages: { dev: { APP_URL: '' }, mine: { BURST_LIMIT: 6 } },
    };
    const dev = readDeploymentConfig(block, 'dev', own);
    expect(dev).toMatchObject({ memorySize: 600, environment: { GUEST_LIMIT: '5', BURST_LIMIT: '4' } });
    expect(dev.environment).not.toHaveProperty('APP_URL');
    const mine = readDeploymentConfig(block, 'mine', own);
    expect(mine).toMatchObject({ memorySize: 700, environment: { GUEST_LIMIT: '5', BURST_LIMIT: '6' } });
  });

  test.each<[own: unknown, stage: string, faults: string[]]>([
    [[], 'dev', ['gateway.json: must be an object']],
    [{ defaults: 1 }, 'dev', ['gateway.json, defaults: must be an object']],
    [{ stages: { dev: 1 } }, 'dev', ['gateway.json, stages.dev: must be an object']],
    [
      { gateway: {} },
      'dev',
      ['gateway.json: gateway has no place here; settings stand in defaults or in one of the stages'],
    ],
    [{ stages: { mine: {} } }, 'prod', ['gateway.stages: prod is no stage (there are: dev, mine)']],
    [
      { defaults: { GUEST_LIMIT: -1 }, stages: { dev: { memorySize: 1 } } },
      'dev',
      [
        'gateway.json, stages.dev: memorySize must be a whole number from 128 to 10240',
        'gateway.defaults: BURST_LIMIT must be a whole number from 1 to 10000',
        'gateway.json, defaults: GUEST_LIMIT must be a whole number from 0 to 1000000',
      ],
    ],
  ])('finds a fault of the operator’s file there: %j', (own, stage, said) => {
    const block = { defaults: { ...defaults, BURST_LIMIT: 0 }, stages: { dev: {} } };
    const found = faults(block, stage, own);
    expect(found.toSorted()).toEqual(said.toSorted());
  });

  test('accepts objects as JSON values or strings', () => {
    const prices = { svc: { input: 2.5, output: 10 }, 'svc-vision': { input: 1, output: 4 } };
    const objects = { PRICES: prices, UPSTREAM_HEADERS: { 'x-team': 'a' }, UPSTREAM_2_HEADERS: { 'x-team': 'b' } };
    const other = { UPSTREAM_2_BASE_URL: 'https://b.test', UPSTREAM_2_TEXT_MODEL: 'b', UPSTREAM_2_VISION_MODEL: 'c' };
    const texts = Object.fromEntries(Object.entries(objects).map(([name, value]) => [name, JSON.stringify(value)]));
    for (const given of [objects, texts]) {
      expect(readDeploymentConfig(withDefaults({ ...other, ...given })).environment).toMatchObject(texts);
    }
    expect(faultsOf({ PRICES: { svc: { input: 'low' } } })).toEqual(faultsOf({ PRICES: '{"svc": {"input": "low"}}' }));
    const noText = ['GUEST_LIMIT', 'UPSTREAM_NAMES', 'PRICES'].map((name) => faultsOf({ [name]: [{}] }));
    expect(noText).toEqual(
      ['GUEST_LIMIT', 'UPSTREAM_NAMES', 'PRICES'].map((name) => [`${name} must be text, a number, true or false`]),
    );
    expect(faultsOf({ SERVICE_NAME: {} })).toEqual(['SERVICE_NAME must be text, a number, true or false']);
  });

  test('treats a blank as unset, so that a stage can drop a default', () => {
    const block = { defaults: { ...defaults, APP_URL: 'https://app.example' }, stages: { dev: { APP_URL: ' ' } } };
    expect(readDeploymentConfig(block).environment).not.toHaveProperty('APP_URL');
    expect(faultsOf({ UPSTREAM_TEXT_MODEL: '' })).toEqual([expect.stringMatching(/^UPSTREAM_TEXT_MODEL is missing/)]);
  });
});

const certificate = 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-aaaa';
const edge = { edge: true, edgeDomainName: 'api.example.com', edgeCertificateArn: certificate };
const inTemplate = 'belongs in a secret, not in a template';
const rates = 'must be 0, a multiple of 100 up to 1000, or a multiple of 1000 up to 10000';
const chosen = 'is for a server on a host of its own: on Lambda it is fixed';
const without = (engine: string) =>
  `does not exist with engine: ${engine}; leave it out (an empty text unsets a default)`;
const perCaller =
  'for a caller who needs more, issue several keys with limits of their own: each has a counter to itself';

test.each<[fault: string, given: object]>([
  ['GUEST_LIMIT must be text, a number, true or false', { GUEST_LIMIT: [] }],
  ['UPSTREAM_1_BASE_URL is not a known setting: did you mean UPSTREAM_BASE_URL?', { UPSTREAM_1_BASE_URL: 'x' }],
  ['KEYS_TABLE is set by the stack', { KEYS_TABLE: 'mine' }],
  [`UPSTREAM_API_KEYS ${inTemplate}`, { UPSTREAM_API_KEYS: 'k' }],
  [`NETWORK_SALT ${inTemplate}`, { NETWORK_SALT: 'a salt that is long enough' }],
  [`OIDC_CLIENT_SECRET ${inTemplate}`, { OIDC_CLIENT_SECRET: 'what the provider gave' }],
  [
    'logRetentionDays must be a number of days that CloudWatch Logs offers, such as 7, 30 or 365',
    { logRetentionDays: 31 },
  ],
  [
    'reservedConcurrency must be at most 890: Lambda leaves 100 to others, and /cli gets 10',
    { reservedConcurrency: 950 },
  ],
  [
    'reservedConcurrency needs an accountConcurrency above 110: Lambda leaves 100 to others, and /cli gets 10',
    { reservedConcurrency: 5, accountConcurrency: 10 },
  ],
  ['edgeDomainName needs edge: true', { edgeDomainName: 'api.example.com' }],
  [
    'edgeDomainName and edgeCertificateArn belong together: set both or neither',
    { edge: true, edgeDomainName: 'api.example.com' },
  ],
  [
    'edgeDomainName and edgeCertificateArn belong together: set both or neither',
    { edge: true, edgeCertificateArn: certificate },
  ],
  [
    'edgeCertificateArn must be the ARN of a certificate in us-east-1, where CloudFront wants it',
    { ...edge, edgeCertificateArn: certificate.replace('us-east-1', 'eu-central-1') },
  ],
  [
    'edgeWebAclArn must be the ARN of a global web ACL, in us-east-1',
    { edge: true, edgeWebAclArn: 'arn:aws:wafv2:eu-central-1:123456789012:regional/webacl/a/b' },
  ],
  [
    'KEEP_ALIVE_INTERVAL must be at most half of edgeReadTimeout, or the edge cuts silent streams',
    { edge: true, edgeReadTimeout: 20 },
  ],
  // An invalid setting is not also reported as contradicting another.
  ['edge must be true or false', { edge: 'maybe', edgeReadTimeout: 20, edgeDomainName: 'api.example.com' }],
  [
    'KEEP_ALIVE_INTERVAL must be a number of seconds from 0.05 to 300, fractions allowed',
    { edge: true, KEEP_ALIVE_INTERVAL: 1000 },
  ],
  ['EDGE_HEADER is set by the stack where edge is true', { edge: true, EDGE_HEADER: 'x-real-ip' }],
  [
    `BURST_LIMIT must be at most ${mostBurst}, which one counter can serve at once; ${perCaller}`,
    { BURST_LIMIT: mostBurst + 1 },
  ],
  ['BURST_LIMIT must be a whole number from 1 to 10000', { BURST_LIMIT: 1_000_000 }],
  [`memorySize ${without('web')}`, { engine: 'web', memorySize: 512 }],
  [`maxEnvironments ${without('function-url')}`, { maxEnvironments: 10 }],
  [`rateLimit ${without('function-url')}`, { rateLimit: 100 }],
  [`BODY_BUDGET ${without('function-url')}`, { BODY_BUDGET: 100 }],
  [`rateLimit ${rates}`, { engine: 'web', rateLimit: 150 }],
  [`rateLimit ${rates}`, { engine: 'web', rateLimit: 1100 }],
  [`CLIENT_ADDRESS ${chosen}`, { engine: 'web', CLIENT_ADDRESS: 'socket' }],
  [`PORT ${chosen}`, { PORT: '80' }],
])('refused: %s', (fault, given) => {
  expect(faultsOf(given)).toEqual([fault]);
});

describe('an upstream in a private network is refused, because the stack can’t reach it', () => {
  const wayOut = 'run the server beside the model server (docs/hosting.md)';
  const byFunction = `is private, and the stack can't reach it, because Lambda's Function URLs do not stream from within a VPC: ${wayOut}`;
  const byWeb = `is private, and the stack can't reach it, because its web function has no network connector: ${wayOut}`;

  test.each([
    ...['localhost', 'localhost.', 'api.localhost', 'models.internal', 'gpu.cluster.local', 'GPU.LOCAL'],
    ...['127.0.0.1', '127.1', '2130706433', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['169.254.169.254', '100.64.0.1', '[::1]', '[::]', '[fd00::1]', '[fc00::1]', '[fe80::1]', '[febf::1]'],
    ...['[::ffff:127.0.0.1]', '[::ffff:10.0.0.1]', '[::ffff:a9fe:a9fe]'],
  ])('http://%s:8000/v1', (host) => {
    expect(faultsOf({ UPSTREAM_BASE_URL: `http://${host}:8000/v1` })).toEqual([`UPSTREAM_BASE_URL ${byFunction}`]);
  });

  test.each([
    ...['api.acme.com', 'internal.acme.com', 'local.acme.com', 'mylocal', 'thelocal.se', '11.0.0.1', '172.15.0.1'],
    ...['172.32.0.1', '192.167.1.1', '100.128.0.1', '[2606:4700::1111]', '[::ffff:1.1.1.1]', '[2001:db8::1]'],
  ])('but not http://%s/v1', (host) => {
    expect(faultsOf({ UPSTREAM_BASE_URL: `http://${host}/v1` })).toEqual([]);
  });

  test('at each of its addresses, of every upstream and dialect, on either engine', () => {
    const url = 'http://10.0.0.1/v1';
    const second = { UPSTREAM_2_BASE_URL: url, UPSTREAM_2_TEXT_MODEL: 'b', UPSTREAM_2_VISION_MODEL: 'c' };
    const others = {
      UPSTREAM_RESPONSES_BASE_URL: url,
      UPSTREAM_MESSAGES_BASE_URL: url,
      UPSTREAM_EMBEDDINGS_BASE_URL: url,
    };
    const counted = { UPSTREAM_3_TOKENIZE_URL: 'http://10.0.0.1/tokenize', UPSTREAM_3_DIALECTS: 'chat' };
    const third = {
      UPSTREAM_3_BASE_URL: defaults.UPSTREAM_BASE_URL,
      UPSTREAM_3_TEXT_MODEL: 'b',
      UPSTREAM_3_VISION_MODEL: 'c',
    };
    const given = { ...second, ...others, UPSTREAM_EMBEDDINGS_MODEL: 'e', ...third, ...counted };
    const names = Object.keys({ ...second, ...others, ...counted }).filter((name) => name.endsWith('_URL'));
    expect(faultsOf(given)).toEqual(names.map((name) => `${name} ${byFunction}`));
    expect(faultsOf({ engine: 'web', ...given })).toEqual(names.map((name) => `${name} ${byWeb}`));
  });
});

test('a burst limit may be as high as one counter can serve, and all of Lambda’s concurrency may be reserved', () => {
  expect(faultsOf({ BURST_LIMIT: mostBurst, reservedConcurrency: 890 })).toEqual([]);
  expect(readFileSync('docs/settings.md', 'utf8')).toContain(`in a deployment [at most ${mostBurst}]`);
});

describe("Lambda's limit on all settings", () => {
  test('is 4 KB for a function, with what the stack adds, in bytes, and names the longest', () => {
    const { environment } = readDeploymentConfig(withDefaults({ APP_URL: 'https://app.example/' }));
    const free = 4096 - Buffer.byteLength(JSON.stringify({ ...environment, ...setByStack }));
    expect(faultsOf({ APP_URL: `https://app.example/${'a'.repeat(free)}` })).toEqual([]);
    const long = `https://app.example/é${'a'.repeat(free - 1)}`;
    const tooLong = /^APP_URL is too long \(\d{4} bytes\): all settings together take 4097 bytes, and Lambda 4096$/;
    expect(faultsOf({ APP_URL: long })).toEqual([expect.stringMatching(tooLong)]);
    expect(faultsOf({ engine: 'web', APP_URL: long })).toEqual([]);
  });
});

test('every invalid setting gives exactly one message', () => {
  const everything = {
    ...{ ...defaults, ...edge, MODEL_ALIASES: 'gpt-*=svc', UPSTREAM_2_BASE_URL: 'https://b.example/v1' },
    ...{ UPSTREAM_2_TEXT_MODEL: 'b', UPSTREAM_2_VISION_MODEL: 'b', reservedConcurrency: 20 },
  };
  const names = [
    ...Object.keys(settings).filter((name) => !Object.hasOwn(setByStack, name)),
    ...Object.keys(stackSettings),
    ...Object.keys(upstreamSettings).map((name) => `UPSTREAM_2_${name}`),
  ];
  for (const name of names) {
    const wrong = /_MODEL$/.test(name) ? 'two words' : '\u0007'; // almost anything else is a valid model id
    const found = faults({ defaults: { ...everything, [name]: wrong }, stages: { dev: {} } });
    expect([name, found]).toEqual([name, [expect.stringMatching(new RegExp(`^gateway\\.defaults: ${name} `))]]);
  }
});

test('every fault is reported once, with its place', () => {
  const stages = { prod: { GUEST_LIMIT: -1, colour: 'x' } };
  expect(faults({ defaults: { ...defaults, memorySize: 1, GUEST_LIMIT: 2 }, stages }, 'prod')).toEqual([
    expect.stringMatching(/^gateway.stages.prod: colour is not a known setting/),
    expect.stringMatching(/^gateway.defaults: memorySize must be/),
    expect.stringMatching(/^gateway.stages.prod: GUEST_LIMIT must be/),
  ]);
});

test.each([
  ['prod', {}, true],
  ['dev', { terminationProtection: true }, true],
  ['dev', {}, false],
  ['prod', { alarmEmail: 'on-call@example.com' }, false],
])('a deployment in use whose alarms notify nobody gives a warning: %s with %j', (stage, given, isWarned) => {
  const real = { ...defaults, UPSTREAM_BASE_URL: 'https://api.acme.com/v1', DAILY_LIMIT: 1000, ...given };
  const { warnings } = readDeploymentConfig({ defaults: real, stages: { dev: {}, prod: {} } }, stage);
  const warning = expect.stringMatching(`gateway.stages.${stage}: alarmEmail is not set: `);
  expect(warnings).toEqual(isWarned ? [warning] : []);
});

test.each([
  ['prod', {}, true],
  ['dev', {}, false],
  ['prod', { DAILY_LIMIT: 1000 }, false],
  ['prod', { alarmTokens: 1_000_000 }, false],
  [
    'prod',
    { alarmSpending: 20, PRICES: { svc: { input: 1, output: 2 }, 'svc-vision': { input: 1, output: 2 } } },
    false,
  ],
  ['prod', { UPSTREAM_BASE_URL: 'https://api.acme.com/v1', ACCESS: 'open', DAILY_LIMIT: 5 }, false],
])('a deployment in use whose spending nobody is told of gives a warning: %s with %j', (stage, given, isWarned) => {
  const keysAlone = { UPSTREAM_BASE_URL: 'https://api.acme.com/v1', ACCESS: 'keys', alarmEmail: 'on-call@example.com' };
  const block = { defaults: { ...defaults, ...keysAlone, ...given }, stages: { dev: {}, prod: {} } };
  const { warnings } = readDeploymentConfig(block, stage);
  const warning = expect.stringMatching(/: nothing tells you when callers spend much at the upstream: set alarmTokens/);
  expect(warnings).toEqual(isWarned ? [warning] : []);
});

test('an alarm on spending needs prices', () => {
  const block = { defaults: { ...defaults, alarmSpending: 20 }, stages: { prod: {} } };
  expect(() => readDeploymentConfig(block, 'prod')).toThrow('alarmSpending needs PRICES');
});

describe('an upstream', () => {
  const second = { UPSTREAM_2_TEXT_MODEL: 'b', UPSTREAM_2_VISION_MODEL: 'c' };

  test('with the example’s address gives a warning', () => {
    const remedy = 'is an example: set it to the address of your upstream';
    expect(warningsOf({})).toEqual([]);
    expect(warningsOf(defaults)).toEqual([`UPSTREAM_BASE_URL ${remedy}`]);
    const others = { UPSTREAM_MESSAGES_BASE_URL: 'https://a.example/v1', UPSTREAM_2_BASE_URL: 'http://b.example' };
    expect(warningsOf({ ...second, ...others })).toEqual(Object.keys(others).map((name) => `${name} ${remedy}`));
  });

  test.each(['Authorization', 'x-api-key', 'x-accesstoken', 'cookie', 'client-secret'])(
    'with a secret header in clear text gives a warning: %s',
    (header) => {
      const remedy = "in clear text in the template: put it into the upstream's secret, under the same name";
      const value = JSON.stringify({ 'x-team': 'a', [header]: 'Bearer s3cr3t' });
      const other = { ...second, UPSTREAM_2_BASE_URL: 'https://api.acme.org/v1', UPSTREAM_2_HEADERS: value };
      expect(warningsOf({ UPSTREAM_HEADERS: value, ...other })).toEqual(
        ['UPSTREAM_HEADERS', 'UPSTREAM_2_HEADERS'].map((name) => `${name} has ${header.toLowerCase()} ${remedy}`),
      );
    },
  );

  test('whose name stands in code gives a warning', () => {
    const warning =
      'openai is also hidden in code that a model writes: set UPSTREAM_NAMES without it, or HIDE_IN_TEXT=none';
    expect(warningsOf({ UPSTREAM_NAMES: 'acme,openai' })).toEqual([warning]);
  });

  test('with other headers gives none', () => {
    expect(warningsOf({ UPSTREAM_HEADERS: '{"x-team": "a", "x-monkey": "b", "x-tokens-most": "5"}' })).toEqual([]);
  });
});

test('an open stage without a limit for all callers together gives a warning, which names the settings that end it', () => {
  const warning =
    'ACCESS is open, and nothing limits what all callers together spend at the upstream: set DAILY_LIMIT, or SPEND_LIMIT with PRICES, or ACCESS to keys';
  const prices = { svc: { input: 1, output: 1 }, 'svc-vision': { input: 1, output: 1 } };
  expect(warningsOf({ DAILY_LIMIT: '' })).toEqual([warning]);
  expect(warningsOf({ DAILY_LIMIT: '', SPEND_LIMIT: 5, PRICES: prices })).toEqual([]);
  expect(warningsOf({ DAILY_LIMIT: '', ACCESS: 'keys' })).toEqual([]);
});

test.each([
  [{}, 'guests and anyone with a wallet'],
  [{ WALLET_SIGN_IN: false }, 'guests'],
  [{ GUEST_LIMIT: 0 }, 'anyone with a wallet'],
  [{ GUEST_LIMIT: 0, WALLET_SIGN_IN: false }, undefined],
  [{ ACCESS: 'keys' }, undefined],
])('others who may call despite OIDC sign-in are a warning: with %j, %s', (given, others) => {
  const company = {
    ...{ APP_URL: 'https://api.example.com', OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_ID: 'gateway' },
    OIDC_ALLOWED_DOMAINS: 'example.com',
  };
  const warning = `OIDC_ISSUER keeps nobody out: ${others} may call as well, unless ACCESS is keys`;
  expect(warningsOf({ ...company, ...given })).toEqual(others === undefined ? [] : [warning]);
});

const domain = {
  edgeDomainName: 'api.example.com',
  edgeCertificateArn: `arn:aws:acm:us-east-1:123456789012:certificate/c`,
};
test.each([
  [{ edge: true }, true],
  [{ edge: true, ...domain }, false],
  [{ edge: true, APP_URL: 'https://d1.cloudfront.net' }, false],
  [{ edge: true, WALLET_SIGN_IN: false }, false],
  [{}, false],
])('an edge that people can’t sign in behind gives a warning: with %j', (given, isWarned) => {
  const warning = expect.stringMatching(/^APP_URL is not set: behind the edge nobody can sign in/);
  expect(warningsOf(given)).toEqual(isWarned ? [warning] : []);
});

const stages = { dev: {}, staging: {}, prod: {} };
test.each<[fault: string, ...of: Parameters<typeof faults>]>([
  ['gateway.stages: Prod is no stage (there are: dev, staging, prod)', { defaults, stages }, 'Prod'],
  ['gateway.stages: dev is no stage (there are: prod)', { defaults, stages: { prod: {} } }],
  [
    'gateway.stages: A_b must be 1 to 20 lower-case letters, digits and dashes',
    { defaults, stages: { A_b: {} } },
    'A_b',
  ],
  ['gateway: must be an object', undefined],
  ['gateway: must be an object', []],
  ['gateway.stages: must be an object', { defaults }],
  ['gateway.defaults: must be an object', { stages }],
  ['gateway.stages.dev: must be an object', { defaults, stages: { dev: 5 } }],
  [
    'gateway: UPSTREAM_BASE_URL has no place here; settings stand in defaults or in one of the stages',
    { ...defaults, defaults, stages },
  ],
])('%s', (fault, ...of) => {
  expect(faults(...of)).toEqual([fault]);
});

test('every stage of cdk.json can be deployed', () => {
  const { gateway } = JSON.parse(readFileSync('cdk.json', 'utf8')).context;
  const names = Object.keys(gateway.stages);
  expect(names).toEqual(expect.arrayContaining(['dev', 'prod']));
  for (const stage of names) expect(faults(gateway, stage)).toEqual([]);
  expect(readDeploymentConfig(gateway, 'prod').terminationProtection).toBe(true);
});

test('each engine takes its own settings, and a blank unsets what it lacks', () => {
  const ofFunction = { memorySize: 1024, reservedConcurrency: 50, tracing: true };
  expect(readDeploymentConfig(withDefaults(ofFunction))).toMatchObject(ofFunction);
  const ofWeb = { maxEnvironments: 10, rateLimit: 2000 };
  expect(readDeploymentConfig(withDefaults({ engine: 'web', ...ofWeb, BODY_BUDGET: 512 }))).toMatchObject({
    ...ofWeb,
    serverEnvironment: { BODY_BUDGET: '512' },
  });
  const block = { defaults: { ...defaults, memorySize: 512 }, stages: { dev: { engine: 'web', memorySize: '' } } };
  expect(readDeploymentConfig(block)).toMatchObject({ engine: 'web', maxConcurrency: 64, rateLimit: undefined });
  expect(readDeploymentConfig(withDefaults({ engine: 'web', rateLimit: 0 }))).toMatchObject({ rateLimit: 0 });
});
