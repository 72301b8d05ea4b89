import { expect, test } from '@jest/globals';
import { readConfig } from '../../lambda/settings/config.ts';
import { findWarnings } from '../../local/find-warnings.ts';
import { gatewayVariables } from '../../local/local-settings.ts';

const demo = {
  url: 'http://127.0.0.1:1/v1',
  apiKey: 'k',
  textModel: 't',
  visionModel: 'v',
  embeddingsModel: 'e',
  names: [],
};
const upstream = (prefix: string) => ({
  [`${prefix}_BASE_URL`]: 'http://127.0.0.1:9/v1',
  [`${prefix}_TEXT_MODEL`]: 'words',
  [`${prefix}_VISION_MODEL`]: 'eyes',
});
const keyless = upstream('UPSTREAM');
const real = { ...keyless, UPSTREAM_API_KEYS: 'k' };
const paid = { ...real, UPSTREAM_BASE_URL: 'https://api.acme.com/v1' };
const salt = { NETWORK_SALT: 'a-secret-of-the-operator' };
const toDemo = /^HOST .* the built-in demo answers;/;
const toSalt = /^HOST .* the default NETWORK_SALT .* 16 characters/;
const toPages = /^without APP_URL nobody can sign in at \/cli from another machine/;
const named = { APP_URL: 'https://gateway.example' };
const [loopback, reachable] = [
  ['127.0.0.1', '127.1.2.3', '::1', 'localhost'],
  ['0.0.0.0', '::', '192.0.2.1', 'myhost'],
];

test.each<[what: string, hosts: readonly string[], environment: Record<string, string>, said: readonly RegExp[]]>([
  [
    'a folder beside DynamoDB',
    loopback,
    { DATA_DIR: 'data', AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1' },
    [/^AWS_ENDPOINT_URL_DYNAMODB names a DynamoDB, beside which DATA_DIR has no effect$/],
  ],
  ['the demo', loopback, { UPSTREAM_NAMES: 'Acme', UPSTREAM_EMBEDDINGS_MODEL: 'any' }, []],
  [
    'settings of an upstream without an address',
    loopback,
    {
      ...{ UPSTREAM_BASE_URL: ' ', UPSTREAM_API_KEYS: 'secret-key', UPSTREAM_TEXT_MODEL: 'words' },
      ...{ UPSTREAM_HEADERS: '{"x-team":"a"}', UPSTREAM_RESPONSES_BASE_URL: 'https://host/api/v1' },
      ...{ UPSTREAM_SECRET_ID: 'keys', UPSTREAM_NAMES: 'Acme', UPSTREAM_VISION_MODEL: '' },
    },
    [
      /^without UPSTREAM_BASE_URL the built-in demo answers, and ignores UPSTREAM_TEXT_MODEL, UPSTREAM_RESPONSES_BASE_URL, UPSTREAM_HEADERS, UPSTREAM_API_KEYS, UPSTREAM_SECRET_ID$/,
    ],
  ],
  [
    'Bedrock, whose address follows from its region',
    loopback,
    {
      ...{ UPSTREAM_AUTH: 'aws', UPSTREAM_TEXT_MODEL: 'openai.gpt-oss-120b-1:0', AWS_REGION: 'us-east-1' },
      ...{ HIDE_IN_TEXT: 'none', ACCESS: 'keys' },
    },
    [],
  ],
  [
    'an upstream behind the demo',
    loopback,
    upstream('UPSTREAM_2'),
    [/^without UPSTREAM_BASE_URL the built-in demo answers first, and the upstream of UPSTREAM_2_BASE_URL never$/],
  ],
  [
    'a dialect of the demo that does not answer',
    loopback,
    { ...real, DEMO_DIALECTS: 'chat' },
    [/^DEMO_DIALECTS .* set UPSTREAM_DIALECTS$/],
  ],
  [
    'names with a slip',
    loopback,
    { ...{ PRICE: '{}', DATADIR: 'x', PROT: '1', DEMO_DIALECT: 'chat', HOSTNAME: 'h', PORT: '1' }, ...real },
    [
      /^PRICE is not a setting and has no effect: did you mean PRICES\?$/,
      /^DATADIR is .* mean DATA_DIR\?$/,
      /^PROT is .* mean PORT\?$/,
      /^DEMO_DIALECT is .* mean DEMO_DIALECTS\?$/,
    ],
  ],
  [
    'no keys',
    loopback,
    keyless,
    [
      /^without UPSTREAM_API_KEYS every request is refused \(503 unconfigured\); for an upstream that needs no key, set it to any text$/,
    ],
  ],
  [
    'no keys beside an upstream with keys',
    loopback,
    { ...real, ...upstream('UPSTREAM_2') },
    [/^without UPSTREAM_2_API_KEYS this upstream is not used/],
  ],
  ['keys in a secret', loopback, { ...keyless, UPSTREAM_SECRET_ID: 'keys' }, []],
  ['keys', loopback, real, []],
  [
    'names that stand in code',
    loopback,
    { ...real, UPSTREAM_NAMES: 'Amazon,OpenAI,acme' },
    [
      /^Amazon \(as in amazonaws\.com\) and OpenAI are also hidden in code that a model writes: set UPSTREAM_NAMES without them, or HIDE_IN_TEXT=none$/,
    ],
  ],
  [
    'such names where the text is left alone',
    loopback,
    { ...real, UPSTREAM_NAMES: 'openai', HIDE_IN_TEXT: 'none' },
    [],
  ],
  [
    'a provider whom all may spend at',
    loopback,
    paid,
    [/^ACCESS is open, and nothing limits .* SPEND_LIMIT with PRICES/],
  ],
  ['a provider with a limit a day', loopback, { ...paid, DAILY_LIMIT: '9' }, []],
  ['a provider for keys alone', loopback, { ...paid, ACCESS: 'keys' }, []],
  ['the demo and the default salt for others', reachable, {}, [toDemo, toSalt, toPages]],
  ['the demo for others', reachable, salt, [toDemo, toPages]],
  ['the default salt for others', reachable, real, [toSalt, toPages]],
  ['pages without an address for others', reachable, { ...real, ...salt }, [toPages]],
  ['no pages for others', reachable, { ...real, ...salt, ACCESS: 'keys' }, []],
  ['a real upstream, a salt and an address for others', reachable, { ...real, ...salt, ...named }, []],
])('%s', (_what, hosts, environment, said) => {
  const variables = gatewayVariables(environment, environment.UPSTREAM_BASE_URL?.trim() ? undefined : demo);
  const config = readConfig({ ...environment, ...variables });
  for (const host of hosts) {
    const warnings = findWarnings(environment, host, config);
    expect([host, warnings]).toEqual([host, said.map((pattern) => expect.stringMatching(pattern))]);
  }
});
