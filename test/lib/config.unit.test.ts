import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { ConfigError } from '../../lambda/settings/read.ts';
import { settings, upstreamSettings } from '../../lambda/settings/table.ts';
import { mostBurst } from '../../lambda/tables/counter-cost.ts';
import { readDeploymentConfig, setByStack } from '../../lib/config.ts';
import { stackSettings } from '../../lib/stack-settings.ts';

const defaults = {
  UPSTREAM_BASE_URL: 'https://upstream.example/v1',
  UPSTREAM_TEXT_MODEL: 'text-model',
  UPSTREAM_VISION_MODEL: 'vision-model',
};
const withDefaults = (given: object) => ({ defaults: { ...defaults, ...given }, stages: { dev: {} } });

/** The faults of a block. */
function faults(block: unknown, stage?: unknown): readonly string[] {
  try {
    readDeploymentConfig(block, stage);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

describe('a deployment', () => {
  test('combines its stage, the defaults and the fallbacks, in this order of precedence', () => {
    const stages = { dev: {}, prod: { GUEST_LIMIT: 5, memorySize: 1024, UPSTREAM_TEXT_MODEL: 'other' } };
    const block = { defaults: { ...defaults, GUEST_LIMIT: 4, UPSTREAM_SIGNS_THINKING: true }, stages };
    const { environment, ...rest } = readDeploymentConfig(block, 'prod');
    expect(rest).toMatchObject({ stage: 'prod', memorySize: 1024, logRetentionDays: 30, terminationProtection: false });
    expect(environment).toMatchObject({
      UPSTREAM_TEXT_MODEL: 'other',
      GUEST_LIMIT: '5',
      UPSTREAM_SIGNS_THINKING: 'true',
      MEMBER_LIMIT: settings.MEMBER_LIMIT.fallback,
      CORS_ORIGINS: '*',
    });
    expect(Object.values(environment)).not.toContain('');
    expect(Object.keys(environment).filter((name) => /^[a-z]|^KEYS_TABLE$|^METRICS_NAMESPACE$/.test(name))).toEqual([]);
  });

  test('treats a blank as unset, so that a stage can drop a default', () => {
    const block = { defaults: { ...defaults, APP_URL: 'https://app.example' }, stages: { dev: { APP_URL: ' ' } } };
    expect(readDeploymentConfig(block).environment).not.toHaveProperty('APP_URL');
    expect(faults(withDefaults({ UPSTREAM_TEXT_MODEL: '' }))).toEqual([
      expect.stringMatching(/^gateway.defaults: UPSTREAM_TEXT_MODEL is missing/),
    ]);
  });
});

const certificate = 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-aaaa';

test.each<[object, string]>([
  [{ GUEST_LIMIT: [] }, 'GUEST_LIMIT must be text, a number, true or false'],
  [{ guestLimit: 3 }, 'guestLimit is not a known setting: did you mean GUEST_LIMIT?'],
  [{ memory: 3 }, 'memory is not a known setting: did you mean memorySize?'],
  [{ UPSTREAM_2_BASE: 'x' }, 'UPSTREAM_2_BASE is not a known setting: did you mean UPSTREAM_2_BASE_URL?'],
  [{ colour: 'x' }, 'colour is not a known setting: docs/settings.md lists all'],
  [
    { UPSTREAM_1_BASE_URL: 'https://a.example/v1' },
    'UPSTREAM_1_BASE_URL is not a known setting: did you mean UPSTREAM_BASE_URL?',
  ],
  [{ KEYS_TABLE: 'mine' }, 'KEYS_TABLE is set by the stack'],
  [{ UPSTREAM_API_KEYS: 'k' }, 'UPSTREAM_API_KEYS belongs in a secret, not in a template'],
  [{ UPSTREAM_2_API_KEYS: 'k' }, 'UPSTREAM_2_API_KEYS belongs in a secret, not in a template'],
  [{ NETWORK_SALT: 'a salt that is long enough' }, 'NETWORK_SALT belongs in a secret, not in a template'],
  [
    { logRetentionDays: 31 },
    'logRetentionDays must be a number of days that CloudWatch Logs offers, such as 7, 30 or 365',
  ],
  [
    { reservedConcurrency: 950 },
    'reservedConcurrency must be at most 890: Lambda leaves 100 to others, and /cli gets 10',
  ],
  [
    { reservedConcurrency: 5, accountConcurrency: 10 },
    'reservedConcurrency needs an accountConcurrency above 110: Lambda leaves 100 to others, and /cli gets 10',
  ],
  [{ edgeDomainName: 'api.example.com' }, 'edgeDomainName needs edge: true'],
  [
    { SERVICE_NAME: 'Svc', MODEL_ALIASES: 'gpt-*=svc' },
    'SERVICE_NAME must be 2 to 20 lower-case letters, digits and dashes, a letter first',
  ],
  [{ MODEL_ALIASES: 'gpt-4=svc,a=svc,gpt-4=svc-vision' }, 'MODEL_ALIASES maps gpt-4 twice'],
  [
    { PRICES: '{"svc": {"input": "1", "output": 2}, "svc-vision": {"input": 1, "output": 2}}' },
    'PRICES needs a decimal from 0 to 1000000 with at most six places, such as 2.50 for input of svc',
  ],
  [
    { edge: true, edgeDomainName: 'api.example.com' },
    'edgeDomainName and edgeCertificateArn belong together: set both or neither',
  ],
  [
    { edge: true, edgeCertificateArn: certificate.replace('us-east-1', 'eu-central-1') },
    'edgeCertificateArn must be the ARN of a certificate in us-east-1, where CloudFront wants it',
  ],
  [
    { edge: true, edgeWebAclArn: 'arn:aws:wafv2:eu-central-1:123456789012:regional/webacl/a/b' },
    'edgeWebAclArn must be the ARN of a global web ACL, in us-east-1',
  ],
  [
    { edge: true, edgeReadTimeout: 20 },
    'KEEP_ALIVE_INTERVAL must be at most half of edgeReadTimeout, or the edge cuts silent streams',
  ],
  [{ edge: true, EDGE_HEADER: 'x-real-ip' }, 'EDGE_HEADER is set by the stack where edge is true'],
])('refuses %j', (wrong, fault) => {
  const [line, ...others] = faults(withDefaults(wrong));
  expect(line).toMatch(/^gateway\.(defaults|stages\.dev): /);
  expect(line?.slice(line.indexOf(': ') + 2)).toBe(fault);
  expect(others).toEqual([]);
});

describe('a burst limit', () => {
  test('may be as high as one counter can serve', () => {
    expect(faults(withDefaults({ BURST_LIMIT: mostBurst }))).toEqual([]);
    expect(readFileSync('docs/settings.md', 'utf8')).toContain(`in a deployment [at most ${mostBurst}]`);
  });

  test('above that is refused with the remedy', () => {
    const [fault, ...others] = faults(withDefaults({ BURST_LIMIT: mostBurst + 1 }));
    expect(fault).toMatch(`BURST_LIMIT must be at most ${mostBurst}, which one counter can serve at once`);
    expect(fault).toMatch('issue several keys with limits of their own: each has a counter to itself');
    expect(others).toEqual([]);
  });

  test('that no function would accept is one fault', () => {
    expect(faults(withDefaults({ BURST_LIMIT: 1_000_000 }))).toHaveLength(1);
  });
});

describe("Lambda's limit of 4 KB for all settings", () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `name-of-a-vendor-${index}`).join(',');

  test('names the longest setting when it is exceeded', () => {
    const [fault, ...others] = faults(withDefaults({ UPSTREAM_NAMES: names(200) }));
    expect(fault).toMatch(
      /^gateway\.defaults: UPSTREAM_NAMES is too long \(\d{4} bytes\): all settings together take \d{4} bytes, and Lambda 4096$/,
    );
    expect(others).toEqual([]);
  });

  test('includes what the stack adds, in bytes', () => {
    const lengthOf = (given: object) => {
      const { environment } = readDeploymentConfig(withDefaults(given));
      return Buffer.byteLength(JSON.stringify({ ...environment, ...setByStack }));
    };
    const free = 4096 - lengthOf({ APP_URL: 'https://app.example/' });
    expect(faults(withDefaults({ APP_URL: `https://app.example/${'a'.repeat(free)}` }))).toEqual([]);
    expect(faults(withDefaults({ APP_URL: `https://app.example/${'a'.repeat(free + 1)}` }))).toHaveLength(1);
    expect(faults(withDefaults({ APP_URL: `https://app.example/é${'a'.repeat(free - 1)}` }))).toHaveLength(1);
  });
});

test('one fault gives one message, whatever the setting', () => {
  const everything = {
    ...defaults,
    ...{ MODEL_ALIASES: 'gpt-*=svc', UPSTREAM_2_BASE_URL: 'https://b.example/v1' },
    ...{ UPSTREAM_2_TEXT_MODEL: 'b', UPSTREAM_2_VISION_MODEL: 'b', reservedConcurrency: 20 },
    ...{ edge: true, edgeDomainName: 'api.example.com', edgeCertificateArn: certificate },
  };
  const names = [
    ...Object.keys(settings).filter((name) => !Object.hasOwn(setByStack, name)),
    ...Object.keys(stackSettings),
    ...Object.keys(upstreamSettings).map((name) => `UPSTREAM_2_${name}`),
  ];
  for (const name of names) {
    const wrong = /_MODEL$/.test(name) ? 'two words' : '\u0007'; // nearly anything else is a valid model id
    const found = faults({ defaults: { ...everything, [name]: wrong }, stages: { dev: {} } });
    expect([name, found]).toEqual([name, [expect.stringMatching(new RegExp(`^gateway\\.defaults: ${name} `))]]);
  }
});

test('a deployment in use whose alarms notify nobody gives a warning', () => {
  const real = { ...defaults, UPSTREAM_BASE_URL: 'https://api.acme.com/v1' };
  const warnings = (given: object, stage: string) =>
    readDeploymentConfig({ defaults: { ...real, ...given }, stages: { dev: {}, prod: {} } }, stage).warnings;
  const warning = [expect.stringMatching(/^gateway\.stages\.\w+: alarmEmail is not set: /)];
  expect(warnings({}, 'prod')).toEqual(warning);
  expect(warnings({ terminationProtection: true }, 'dev')).toEqual(warning);
  expect(warnings({}, 'dev')).toEqual([]);
  expect(warnings({ alarmEmail: 'on-call@example.com' }, 'prod')).toEqual([]);
});

describe('an upstream', () => {
  const real = { UPSTREAM_BASE_URL: 'https://api.acme.com/v1' };
  const warnings = (given: object) => readDeploymentConfig(withDefaults({ ...real, ...given })).warnings;
  const second = { UPSTREAM_2_TEXT_MODEL: 'b', UPSTREAM_2_VISION_MODEL: 'c' };

  test('at the address of the example gives a warning', () => {
    const remedy = 'is an example, at which nobody answers: set it to the address of your upstream';
    expect(warnings({})).toEqual([]);
    expect(warnings({ UPSTREAM_BASE_URL: defaults.UPSTREAM_BASE_URL })).toEqual([
      `gateway.defaults: UPSTREAM_BASE_URL ${remedy}`,
    ]);
    const others = { UPSTREAM_MESSAGES_BASE_URL: 'https://a.example/v1', UPSTREAM_2_BASE_URL: 'http://b.example' };
    expect(warnings({ ...second, ...others })).toEqual([
      `gateway.defaults: UPSTREAM_MESSAGES_BASE_URL ${remedy}`,
      `gateway.defaults: UPSTREAM_2_BASE_URL ${remedy}`,
    ]);
  });

  test.each([
    ...['authorization', 'Authorization', 'proxy-authorization', 'x-api-key', 'x-accesstoken', 'x-authtoken', 'cookie'],
    ...['x-secretkey', 'x-credential', 'apikey', 'x-auth-token', 'client-secret'],
  ])('with a secret header in clear gives a warning: %s', (header) => {
    const remedy = "in clear in the template: put it into the upstream's secret, under the same name";
    const expected = (name: string) => [`gateway.defaults: ${name} has ${header.toLowerCase()} ${remedy}`];
    const value = JSON.stringify({ 'x-team': 'a', [header]: 'Bearer s3cr3t' });
    expect(warnings({ UPSTREAM_HEADERS: value })).toEqual(expected('UPSTREAM_HEADERS'));
    const other = { ...second, UPSTREAM_2_BASE_URL: 'https://api.acme.org/v1', UPSTREAM_2_HEADERS: value };
    expect(warnings(other)).toEqual(expected('UPSTREAM_2_HEADERS'));
  });

  test('with other headers gives none', () => {
    expect(warnings({ UPSTREAM_HEADERS: '{"x-team": "a", "x-monkey": "b", "x-tokens-most": "5"}' })).toEqual([]);
  });
});

test('every fault is reported once, with its place', () => {
  const stages = { prod: { GUEST_LIMIT: -1, colour: 'x' } };
  expect(faults({ defaults: { ...defaults, memorySize: 1, GUEST_LIMIT: 2 }, stages }, 'prod')).toEqual([
    expect.stringMatching(/^gateway.stages.prod: colour is not a known setting/),
    expect.stringMatching(/^gateway.defaults: memorySize must be/),
    expect.stringMatching(/^gateway.stages.prod: GUEST_LIMIT must be/),
  ]);
});

describe('a block', () => {
  const stages = { dev: {}, staging: {}, prod: {} };
  test.each<[unknown, unknown, string]>([
    [
      { defaults, stages },
      'prd',
      'gateway.stages: prd is no stage: did you mean prod? (there are: dev, staging, prod)',
    ],
    [
      { defaults, stages },
      'Prod',
      'gateway.stages: Prod is no stage: did you mean prod? (there are: dev, staging, prod)',
    ],
    [{ defaults, stages }, 'x', 'gateway.stages: x is no stage (there are: dev, staging, prod)'],
    [{ defaults, stages: { prod: {} } }, undefined, 'gateway.stages: dev is no stage (there are: prod)'],
    [
      { defaults, stages: { A_b: {} } },
      'A_b',
      'gateway.stages: A_b must be 1 to 20 lower-case letters, digits and dashes',
    ],
    [undefined, undefined, 'gateway: must be an object'],
    [[[]], undefined, 'gateway: must be an object'],
    [{ defaults }, undefined, 'gateway.stages: must be an object'],
    [{ stages }, undefined, 'gateway.defaults: must be an object'],
    [{ defaults, stages: { dev: 5 } }, undefined, 'gateway.stages.dev: must be an object'],
    [
      { ...defaults, defaults, stages },
      undefined,
      'gateway: UPSTREAM_BASE_URL has no place here; settings stand in defaults or in one of the stages',
    ],
  ])('%j, stage %s', (block, stage, fault) => {
    expect(faults(block, stage)).toEqual([fault]);
  });
});

test('every stage of cdk.json can be deployed', () => {
  const { gateway } = JSON.parse(readFileSync('cdk.json', 'utf8')).context;
  const stages = Object.keys(gateway.stages);
  expect(stages).toEqual(expect.arrayContaining(['dev', 'prod']));
  for (const stage of stages) expect(faults(gateway, stage)).toEqual([]);
  expect(readDeploymentConfig(gateway, 'prod').terminationProtection).toBe(true);
});

describe('the engine', () => {
  const without = (engine: string) =>
    `does not exist with engine: ${engine}; leave it out (an empty text unsets a default)`;

  test.each([
    [{ engine: 'web', memorySize: 512 }, `memorySize ${without('web')}`],
    [{ engine: 'web', reservedConcurrency: 50 }, `reservedConcurrency ${without('web')}`],
    [{ maxEnvironments: 10 }, `maxEnvironments ${without('function-url')}`],
    [{ engine: 'function-url', maxConcurrency: 64 }, `maxConcurrency ${without('function-url')}`],
    [{ rateLimit: 100 }, `rateLimit ${without('function-url')}`],
    [{ engine: 'web', tracing: false }, `tracing ${without('web')}`],
    [{ BODY_BUDGET: 100 }, `BODY_BUDGET ${without('function-url')}`],
    [
      { engine: 'web', rateLimit: 150 },
      'rateLimit must be 0, a multiple of 100 up to 1000, or a multiple of 1000 up to 10000',
    ],
    [
      { engine: 'web', rateLimit: 1100 },
      'rateLimit must be 0, a multiple of 100 up to 1000, or a multiple of 1000 up to 10000',
    ],
    [
      { engine: 'web', CLIENT_ADDRESS: 'socket' },
      'CLIENT_ADDRESS is for a server on a host of its own: in Lambda it is not chosen',
    ],
    [{ PORT: '80' }, 'PORT is for a server on a host of its own: in Lambda it is not chosen'],
  ])('%j stops the synthesis', (given, fault) => {
    expect(faults(withDefaults(given))).toEqual([`gateway.defaults: ${fault}`]);
  });

  test('each takes its own settings, and a blank unsets what it lacks', () => {
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

  test('a web function has room for more settings than a function', () => {
    const CORS_ORIGINS = Array.from({ length: 120 }, (_, index) => `https://number-${index}-of-many.example`).join(',');
    expect(faults(withDefaults({ engine: 'web', CORS_ORIGINS }))).toEqual([]);
    expect(faults(withDefaults({ CORS_ORIGINS }))).toEqual([expect.stringMatching(/and Lambda 4096$/)]);
  });
});

test('who else may call beside those with a company account is a warning', () => {
  const company = {
    ...{ APP_URL: 'https://api.example.com', OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_ID: 'gateway' },
    OIDC_ALLOWED_DOMAINS: 'example.com',
  };
  const warnings = (given: object) =>
    readDeploymentConfig(
      withDefaults({ UPSTREAM_BASE_URL: 'https://api.acme.com/v1', ...company, ...given }),
    ).warnings.map((text) => text.replace(/^.*?: OIDC/, 'OIDC'));
  const warning = (others: string) => [
    `OIDC_ISSUER keeps nobody out: ${others} may call as well, unless ACCESS is keys`,
  ];
  expect(warnings({})).toEqual(warning('guests and anyone with a wallet'));
  expect(warnings({ WALLET_SIGN_IN: false })).toEqual(warning('guests'));
  expect(warnings({ GUEST_LIMIT: 0 })).toEqual(warning('anyone with a wallet'));
  expect(warnings({ GUEST_LIMIT: 0, WALLET_SIGN_IN: false })).toEqual([]);
  expect(warnings({ ACCESS: 'keys' })).toEqual([]);
});
