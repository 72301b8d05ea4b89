import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { dialects } from '../../../lambda/dialects/index.ts';
import type { UpstreamOptions } from '../../../lambda/dialects/model/request/request-writer.ts';
import { readAccountsConfig, readConfig, readServerConfig } from '../../../lambda/settings/config.ts';
import {
  accountsSections,
  accountsSettings,
  sections,
  settings,
  tableSettings,
} from '../../../lambda/settings/definitions.ts';
import { ConfigError } from '../../../lambda/settings/read-settings.ts';
import { readStorePlace, requireStorePlace } from '../../../lambda/settings/store-place.ts';
import { testRows } from '../../support/test-rows.ts';

const least = {
  UPSTREAM_BASE_URL: 'https://up.example/api/v1/',
  UPSTREAM_TEXT_MODEL: 'words',
  UPSTREAM_VISION_MODEL: 'eyes',
  NETWORK_SALT: '0123456789abcdef',
};

function faultsOf(environment: Record<string, string>, read: (from: typeof environment) => unknown = readConfig) {
  try {
    read(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

const ofUpstream = (own: Record<string, string>, prefix = 'UPSTREAM') =>
  Object.fromEntries(Object.entries(own).map(([name, value]) => [`${prefix}_${name}`, value]));
const upstreamWith = (own: Record<string, string>) => readConfig({ ...least, ...ofUpstream(own) }).upstreams.all[0];

describe('readConfig', () => {
  test('uses the defaults for unset and blank variables', () => {
    expect(readConfig({ ...least, GUEST_LIMIT: ' ' })).toMatchObject({
      quota: { guestLimit: 3, guestWindow: 'lifetime' },
      upstreams: { upstreamConnectTimeout: 5_000 },
      request: { corsOrigins: ['*'] },
      budget: { prices: undefined },
    });
    expect(readConfig({ ...least, UPSTREAM_IDLE_TIMEOUT: '0.25' }).upstreams.upstreamIdleTimeout).toBe(250);
  });

  test('reads which dialects an upstream speaks, and how others are translated for it', () => {
    const plain = {
      ...{ limitName: 'max_tokens', limit: undefined, reasoning: 'none', levels: ['low', 'medium', 'high'] },
      ...{ replay: 'back', systemTurns: 'fold', toolImages: 'after', unknown: 'leave-out', countUrl: undefined },
      streamOptions: 'send',
      cacheMarks: false,
    };
    const translation: UpstreamOptions | undefined = upstreamWith({})?.translation;
    expect(translation).toEqual(plain);
    const set = { OUTPUT_LIMIT: '9', REASONING: 'thinking', REASONING_LEVELS: 'none,high', TOOL_IMAGES: 'inline' };
    expect(upstreamWith({ DIALECTS: 'messages, chat', ...set })).toMatchObject({
      dialects: ['chat', 'messages'],
      translation: { ...plain, limit: 9, reasoning: 'thinking', levels: ['none', 'high'], toolImages: 'inline' },
    });
    const ofMessages = { DIALECTS: 'responses,messages', OUTPUT_LIMIT: '9', CACHE_MARKS: 'true' };
    const countUrl = expect.stringMatching(/^https:.*\/v1\/messages\/count_tokens$/);
    expect(upstreamWith(ofMessages)?.translation).toEqual({ ...plain, limit: 9, cacheMarks: true, countUrl });
  });

  testRows<[settings: Record<string, string>, fault: string]>([
    ...['responses', 'chat,prose', 'chat,chat'].map((dialects): [Record<string, string>, string] => [
      { DIALECTS: dialects },
      'UPSTREAM_DIALECTS must be chat or messages, and any of the other dialects (chat, responses, messages), separated by commas',
    ]),
    [
      { DIALECTS: 'chat,messages', RESPONSES_TEXT_MODEL: 'words' },
      'UPSTREAM_RESPONSES_TEXT_MODEL is for a dialect that UPSTREAM_DIALECTS leaves out: remove one of them',
    ],
    [
      { DIALECTS: 'responses,messages' },
      'UPSTREAM_OUTPUT_LIMIT must be set: requests of messages have a limit, and clients of other dialects may have none',
    ],
    [
      { DIALECTS: 'messages', OUTPUT_LIMIT: '9', TOKENIZE_URL: 'https://models.example/tokenize' },
      'UPSTREAM_TOKENIZE_URL is for translation to chat, but with UPSTREAM_DIALECTS requests are translated to messages: remove it',
    ],
    [
      { DIALECTS: 'responses,messages', OUTPUT_LIMIT: '9', REASONING: 'reasoning_effort' },
      'UPSTREAM_REASONING is for translation to chat, but with UPSTREAM_DIALECTS requests are translated to messages: remove it',
    ],
    [
      { DIALECTS: 'chat,messages', CACHE_MARKS: 'true' },
      'UPSTREAM_CACHE_MARKS is for translation to messages, but with UPSTREAM_DIALECTS requests are translated to chat: remove it',
    ],
    [{ DIALECTS: 'messages', OUTPUT_LIMIT: 'many' }, 'UPSTREAM_OUTPUT_LIMIT must be a whole number from 1 to 10000000'],
    [
      { SYSTEM_TURNS: 'keep' },
      'UPSTREAM_SYSTEM_TURNS is for translation, but UPSTREAM_DIALECTS names every dialect: remove it',
    ],
    [
      { DIALECTS: 'chat', STREAM_OPTIONS: 'omit', STREAM_USAGE: 'true' },
      'UPSTREAM_STREAM_USAGE asks all streams for their usage, which UPSTREAM_STREAM_OPTIONS says is refused: remove one of them',
    ],
  ])('refuses settings that contradict each other', (own, fault) => {
    expect(faultsOf({ ...least, ...ofUpstream(own) })).toEqual([fault]);
  });

  const company = {
    ...{ OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_ID: 'gateway', APP_URL: 'https://app.example' },
  };
  testRows<[Record<string, string>, unknown[]]>([
    [company, [expect.stringMatching(/^OIDC_ISSUER alone lets in everybody who has an account there: set /)]],
    [{ ...company, OIDC_ALLOWED_DOMAINS: 'acme.test' }, []],
    [{ ...company, OIDC_ALLOWED_GROUPS: 'engineers' }, []],
    [{ ...company, OIDC_ALLOW_ALL: 'true' }, []],
    [{ OIDC_ISSUER: company.OIDC_ISSUER }, [expect.stringMatching(/^OIDC_CLIENT_ID and APP_URL missing: /)]],
    [{ OIDC_ALLOWED_DOMAINS: 'acme.test' }, [expect.stringMatching(/^OIDC_ISSUER and OIDC_CLIENT_ID and APP_URL /)]],
    [{ OIDC_ALLOW_ALL: 'true' }, [expect.stringMatching(/^OIDC_ISSUER and OIDC_CLIENT_ID and APP_URL missing: /)]],
    ...['http://login.example.com', 'https://login.example.com?a', 'https://login.example.com#a', 'https://a@b.c'].map(
      (issuer): [Record<string, string>, unknown[]] => [
        { ...company, OIDC_ALLOW_ALL: 'true', OIDC_ISSUER: issuer },
        [expect.stringMatching(/^OIDC_ISSUER must be an https URL /)],
      ],
    ),
    [{ ...company, OIDC_ALLOW_ALL: 'true', OIDC_ISSUER: 'http://127.0.0.1:8080' }, []],
    [{ ...company, OIDC_ALLOWED_DOMAINS: '@acme' }, [expect.stringMatching(/^OIDC_ALLOWED_DOMAINS must be /)]],
  ])('OIDC needs an allow-list and an APP_URL', (own, faults) => {
    expect(faultsOf({ ...least, ...own })).toEqual(faults);
  });

  test('reads upstreams in the order of their numbers, each with addresses and models of its dialects, or plain ones', () => {
    const needed = { TEXT_MODEL: 't', VISION_MODEL: 'v' };
    const { all: upstreams } = readConfig({
      ...{ ...least, ...ofUpstream({ BASE_URL: 'https://ten.example/v1', ...needed }, 'UPSTREAM_10') },
      ...ofUpstream({ BASE_URL: 'https://two.example/v1/', API_KEYS: 'one, two', ...needed }, 'UPSTREAM_2'),
      ...ofUpstream({ MESSAGES_BASE_URL: 'https://m.example/v1', RESPONSES_VISION_MODEL: 'r' }, 'UPSTREAM_2'),
    }).upstreams;
    expect(upstreams.map(({ prefix }) => prefix)).toEqual(['UPSTREAM', 'UPSTREAM_2', 'UPSTREAM_10']);
    const address = 'https://two.example/v1';
    expect(upstreams[1]).toMatchObject({
      addresses: { chat: address, responses: address, messages: 'https://m.example/v1' },
      models: { chat: { vision: 'v' }, responses: { text: 't', vision: 'r' }, messages: { vision: 'v' } },
      apiKeys: ['one', 'two'],
      firstEventTimeout: undefined,
    });
  });

  test('reads aliases, exact and by prefix', () => {
    expect(readConfig({ ...least, MODEL_ALIASES: 'gpt-*=svc, eyes=svc-vision' }).service.modelAliases).toEqual([
      { from: 'gpt-', prefix: true, to: 'svc' },
      { from: 'eyes', prefix: false, to: 'svc-vision' },
    ]);
  });

  test('refuses a duplicate alias', () => {
    const faults = faultsOf({ ...least, MODEL_ALIASES: 'a=svc,a*=svc,b=svc,a=svc-vision' });
    expect(faults).toEqual(['MODEL_ALIASES maps a twice']);
  });

  test('the vision model is the text model unless it is set, also where a dialect has its own', () => {
    const [upstream] = readConfig({
      ...least,
      UPSTREAM_VISION_MODEL: '',
      UPSTREAM_MESSAGES_TEXT_MODEL: 'letters',
    }).upstreams.all;
    expect(upstream?.models).toMatchObject({
      chat: { text: 'words', vision: 'words' },
      messages: { text: 'letters', vision: 'letters' },
    });
  });

  test('reports every fault at once, one line each', () => {
    const faults = faultsOf({ GUEST_LIMIT: '-1', GUEST_WINDOW: 'weekly' });
    expect(faults).toHaveLength(5);
    for (const name of ['UPSTREAM_BASE_URL', 'UPSTREAM_TEXT_MODEL', 'NETWORK_SALT_SECRET_ID or NETWORK_SALT']) {
      expect(faults).toContainEqual(expect.stringMatching(`^${name} is missing`));
    }
    expect(faults).toContain('GUEST_WINDOW must be lifetime or daily');
    expect(faults).toContain('GUEST_LIMIT must be a whole number from 0 to 1000000');
  });

  testRows([
    ['UPSTREAM_BASE_URL', 'https://user:secret@up.example/v1'],
    ['UPSTREAM_BASE_URL', 'https://:secret@up.example/v1'],
    ['UPSTREAM_BASE_URL', 'https://up.example/v1?key=secret'],
    ['UPSTREAM_BASE_URL', 'https://up.example/v1#a'],
    ['UPSTREAM_BASE_URL', 'ftp://up.example/v1'],
    ['UPSTREAM_NAMES', 'a'],
    ['BURST_LIMIT', '20.5'],
    ['IDENTITY_CACHE_SECONDS', '61'],
    ['REQUEST_TIMEOUT', '900'],
    ['CORS_ORIGINS', 'https://*.app.example'],
    ['CORS_ORIGINS', 'https://app.example/'],
    ['CORS_ORIGINS', 'https://App.example'],
    ['CORS_ORIGINS', 'https://app.example:443'],
    ['OIDC_ALLOWED_DOMAINS', 'https://acme.test/'],
    ['OIDC_ALLOWED_DOMAINS', '@acme.test'],
    ['APP_URL', 'https://app.example/cli'],
    ['APP_URL', 'https://app.example/cli/'],
    ['GATEWAY_URL', 'https://api.example/v1'],
    ['SERVICE_NAME', 'My Service'],
    ['MODEL_ALIASES', 'gpt-*=other'],
    ['MODEL_ALIASES', 'svc=svc-vision'],
    ['NETWORK_SALT', 'short'],
    ['EDGE_HEADER', 'x-viewer'],
    ['UPSTREAM_2_COLOUR', 'red'],
  ])('refuses a value by name, without showing the value of another', (name, value) => {
    const faults = faultsOf({ ...least, [name]: value });
    expect(faults.length).toBeGreaterThan(0);
    expect(faults[0]).toMatch(name);
  });

  const endpoints = dialects.flatMap((dialect) => dialect.endpoints);

  testRows(endpoints.map(({ path }) => path))('refuses a base URL with a path that the gateway appends', (path) => {
    const UPSTREAM_BASE_URL = `https://up.example/api${path}`;
    expect(faultsOf({ ...least, UPSTREAM_BASE_URL })).toEqual([expect.stringMatching(/^UPSTREAM_BASE_URL must be/)]);
  });

  test('headers of the operator are read by lower-case name', () => {
    const HEADERS = '{"X-Team": "a, b", "anthropic-beta": ""}';
    expect(upstreamWith({ HEADERS })?.headers).toEqual({ 'x-team': 'a, b', 'anthropic-beta': '' });
  });

  testRows(['["x-team"]', '{"x-team": 1}', '{"x-team": "a\\nb"}', '{"Host": "elsewhere"}'])(
    'UPSTREAM_HEADERS is nothing but plain headers',
    (value) => {
      expect(faultsOf({ ...least, UPSTREAM_HEADERS: value })).toEqual([
        expect.stringMatching(/^UPSTREAM_HEADERS must be a JSON object of header names and values, without host/),
      ]);
    },
  );

  const prices = '{"svc": {"input": 2.50, "output": 10}, "svc-vision": {"input": 1, "output": 4, "maxOutput": 900}}';

  test('reads prices and amounts of money in millionths', () => {
    const { budget } = readConfig({ ...least, PRICES: prices, MEMBER_BUDGET: '20', SPEND_LIMIT: '0.5' });
    expect(budget).toMatchObject({ memberBudget: 20_000_000, memberBudgetWindow: 'month', spendLimit: 500_000 });
    expect(budget.prices?.get('svc-vision')).toMatchObject({ output: 4_000_000, maxOutput: 900 });
  });

  test.each(['MEMBER_BUDGET', 'SPEND_LIMIT'])('%s needs prices', (name) => {
    expect(faultsOf({ ...least, [name]: '20' })).toEqual([
      `${name} needs PRICES: without a price nothing can be counted against it`,
    ]);
    expect(faultsOf({ ...least, [name]: '0', PRICES: prices })).toEqual([
      expect.stringMatching(`^${name} must be an amount`),
    ]);
  });

  testRows<[string, string[]]>([
    ['2.50', ['SERVICE_NAME', 'PRICES']],
    [prices, ['SERVICE_NAME']],
  ])('reports invalid price JSON along with an invalid service name', (PRICES, names) => {
    expect(faultsOf({ ...least, SERVICE_NAME: 'My Service', PRICES })).toEqual(
      names.map((name) => expect.stringMatching(`^${name} must be`)),
    );
  });
});

describe('the sections', () => {
  test('have each setting once', () => {
    expect(Object.values(sections).flatMap((section) => Object.keys(section))).toEqual(
      Object.keys(settings).filter((name) => !Object.hasOwn(tableSettings, name)),
    );
  });

  test('of the accounts function are some of the gateway’s, with settings of the same section', () => {
    for (const [name, section] of Object.entries(accountsSections)) {
      expect(sections[name as keyof typeof sections]).toMatchObject(section);
    }
    expect(Object.keys(accountsSettings).length).toBeGreaterThan(20);
  });

  test('cannot be changed once they are read', () => {
    expect(Object.values(readConfig(least)).map(Object.isFrozen)).toEqual(Object.keys(sections).map(() => true));
  });
});

describe('readAccountsConfig', () => {
  const { NETWORK_SALT } = least;

  test('needs the salt, and no settings of an upstream', () => {
    const config = readAccountsConfig({ NETWORK_SALT });
    expect(config).toMatchObject({
      service: { serviceName: 'svc' },
      quota: { memberLimit: 50 },
      accounts: { appUrl: undefined },
    });
  });

  test('reports every fault', () => {
    expect(faultsOf({ APP_URL: 'app', EDGE_HEADER: 'x-viewer' }, readAccountsConfig)).toEqual([
      expect.stringMatching(/^APP_URL must be/),
      expect.stringMatching(/^NETWORK_SALT_SECRET_ID or NETWORK_SALT is missing/),
      'EDGE_HEADER and EDGE_SECRET_ID belong together: set both or neither',
    ]);
  });
});

test('a server keeps keys and counters in a folder or in tables, and must be told which', () => {
  const tables = { KEYS_TABLE: 'keys', QUOTA_TABLE: 'quota' };
  const place = readStorePlace({ DATA_DIR: 'data' });
  expect(place).toEqual({ dataDir: resolve('data'), tables: undefined });
  expect(readStorePlace(tables)).toEqual({ dataDir: undefined, tables: { keysTable: 'keys', quotaTable: 'quota' } });
  expect([readStorePlace({ DATA_DIR: ' ' }), faultsOf({}, requireStorePlace)]).toEqual([
    undefined,
    [expect.stringMatching(/^DATA_DIR, or KEYS_TABLE and QUOTA_TABLE, must be set: /)],
  ]);
  expect(faultsOf({ ...tables, QUOTA_TABLE: '' }, readStorePlace)).toEqual([
    expect.stringMatching(/^QUOTA_TABLE is missing/),
  ]);
  expect(faultsOf({ KEYS_TABLE: 'keys', DATA_DIR: 'data' }, readStorePlace)).toEqual([
    'DATA_DIR and KEYS_TABLE name two stores: set one of them',
  ]);
});

test('on a host, the caller is the address of the connection', () => {
  expect(readServerConfig({})).toEqual({
    ...{ host: '127.0.0.1', port: 8787, clientAddress: 'socket', scheme: 'http' },
    ...{ bodyBudget: 256 * 1_048_576, shutdownDrain: 0, shutdownGrace: 300, dataDir: undefined, servesWallet: true },
    ...{ otelExporterOtlpEndpoint: undefined, otelSemconvStabilityOptIn: [] },
    ...{ metricsPort: undefined, logMetrics: true, startCheck: true },
  });
  expect(readServerConfig({ HOST: '::', PORT: '80', CLIENT_ADDRESS: 'x-forwarded-for' })).toMatchObject({
    ...{ host: '::', port: 80, clientAddress: 'x-forwarded-for', scheme: 'http' },
  });
});

testRows([
  ['127.0.0.1:8080', '127.0.0.1', 8080],
  ['[::1]:8080', '::1', 8080],
  ['localhost:65535', 'localhost', 65535],
])('in Lambda it listens where Lambda says, and nowhere else', (endpoint, host, port) => {
  const config = readServerConfig({ AWS_LAMBDA_HTTP_ENDPOINT: endpoint, HOST: '0.0.0.0', PORT: '1' });
  expect(config).toMatchObject({ host, port, clientAddress: 'x-forwarded-for', scheme: 'https', servesWallet: false });
});

test('an invalid port is refused by the name of its setting', () => {
  expect(() => readServerConfig({ AWS_LAMBDA_HTTP_ENDPOINT: '127.0.0.1:65536' })).toThrow(
    'AWS_LAMBDA_HTTP_ENDPOINT must be a host and a port, such as 127.0.0.1:8080',
  );
});

test('every fault of the server is reported', () => {
  const wrong = { PORT: '-1', SHUTDOWN_GRACE: 'soon', AWS_LAMBDA_HTTP_ENDPOINT: '8080' };
  expect(() => readServerConfig(wrong)).toThrow(
    [
      'PORT must be a whole number from 0 to 65535, 0 for any free port',
      'AWS_LAMBDA_HTTP_ENDPOINT must be a host and a port, such as 127.0.0.1:8080',
      'SHUTDOWN_GRACE must be a number of seconds from 0 to 600, fractions allowed',
    ].join('\n'),
  );
});
