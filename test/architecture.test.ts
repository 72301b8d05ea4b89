import { describe, expect, test } from '@jest/globals';
import { findCircles, readSources, type SourceFile, toSource } from './support/imports.ts';

/**
 * Who may import whom inside lambda/, one row for each folder or file, leaves first. A row may import what it lists and
 * itself; so data flows one way, and each kind of change touches one place.
 */
const rules: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  'metric-names': [],
  settings: ['metric-names'],
  json: [],
  config: ['settings'],
  models: ['settings'],
  secrets: ['config', 'errors', 'settings'],
  identity: ['errors'],
  quota: ['errors', 'identity'],
  dialects: ['errors', 'json'],
  upstream: ['config', 'dialects', 'errors', 'models'],
  stream: ['dialects', 'errors', 'json', 'upstream'],
  store: ['config', 'errors', 'identity', 'quota', 'secrets'],
  routes: ['dialects', 'errors'],
  emf: ['metric-names'],
  'gateway-request': ['dialects', 'errors', 'identity', 'models', 'quota', 'routes'],
  cors: ['gateway-request'],
  'gateway-headers': ['cors', 'gateway-request'],
  measure: ['emf', 'gateway-request', 'metric-names'],
  log: ['emf', 'gateway-request', 'measure'],
  'read-json-body': ['errors', 'gateway-request', 'json'],
  middleware: [
    'dialects',
    'errors',
    'gateway-headers',
    'gateway-request',
    'identity',
    'json',
    'log',
    'models',
    'quota',
    'read-json-body',
  ],
  pipelines: [
    'cors',
    'dialects',
    'errors',
    'gateway-headers',
    'gateway-request',
    'identity',
    'json',
    'log',
    'middleware',
    'models',
    'quota',
    'stream',
    'upstream',
  ],
  app: ['cors', 'errors', 'gateway-headers', 'gateway-request', 'identity', 'pipelines', 'routes'],
  handler: ['app', 'dialects', 'errors', 'gateway-request'],
  // The composition: it may know every part but those that use it.
  gateway: [
    'app',
    'config',
    'dialects',
    'gateway-headers',
    'identity',
    'log',
    'models',
    'quota',
    'routes',
    'secrets',
    'store',
    'stream',
    'upstream',
  ],
  index: ['config', 'gateway', 'handler', 'store'],
  // A function of its own: it takes what it shares from below, and nothing of the gateway takes anything from it.
  wallet: [
    'config',
    'emf',
    'errors',
    'gateway-headers',
    'gateway-request',
    'handler',
    'identity',
    'log',
    'metric-names',
    'quota',
    'secrets',
    'store',
  ],
};

/** Packages that only some places may use. */
const packageRules: readonly { readonly name: RegExp; readonly allowed: RegExp }[] = [
  // That nothing of the SDK gets into the gateway's artifact is the bundle's test.
  { name: /^@aws-sdk\//, allowed: /^lambda\/(store\/|wallet\/wallet\.ts$)/ },
  { name: /^aws4$/, allowed: /^lambda\/store\// },
  { name: /^@middy\//, allowed: /^lambda\/((wallet\/)?(middleware|pipelines)\/|handler\.ts$)/ },
  { name: /^(viem|@noble\/)/, allowed: /^lambda\/wallet\// },
  { name: /^(aws-cdk-lib|constructs|cdk-nag|commander|dynalite)/, allowed: /^$/ },
];

/** What lib/ may take from lambda/: the schema of the tables, the settings, and the names of metrics and of the edge's headers. */
const sharedWithLib = /^lambda\/(store\/schema|settings|config|metric-names|identity\/viewer-address)\.ts$/;

/** Where a function begins: only there are the environment and the clock at hand. */
const entries = /^lambda\/(wallet\/)?index\.ts$/;

const dialectFiles = /^lambda\/dialects\/(chat|responses|messages)\.ts$/;

function unitOf(path: string): string {
  return /^lambda\/([^/]+?)(\.ts|\/.*)$/.exec(path)?.[1] ?? '';
}

function findViolations(sources: readonly SourceFile[]): string[] {
  const violations: string[] = [];
  for (const { path, text, imports } of sources) {
    const unit = unitOf(path);
    for (const target of imports) {
      const allowed = path.startsWith('lambda/')
        ? mayLambdaImport(path, unit, target)
        : !path.startsWith('lib/') || !target.startsWith('lambda/') || sharedWithLib.test(target);
      if (!allowed) violations.push(`${path} must not import ${target}`);
    }
    if (!path.startsWith('lambda/')) continue;
    if (!(unit in rules)) violations.push(`${path} has no rule: say what it may import`);
    if (/process\.env/.test(text) && !entries.test(path)) violations.push(`${path} must not read the environment`);
    if (/Date\.now|new Date\(\)|Math\.random/.test(text) && !entries.test(path)) {
      violations.push(`${path} must be given its clock and its randomness`);
    }
    if (/\bdialect(\.name)? ===/.test(text) || /'(chat|responses|messages)' ===/.test(text)) {
      violations.push(`${path} must not ask which dialect it is`);
    }
  }
  return violations;
}

function mayLambdaImport(path: string, unit: string, target: string): boolean {
  const packageRule = packageRules.find(({ name }) => name.test(target));
  if (packageRule) return packageRule.allowed.test(path);
  if (/^(lib|local|bin|bench|test)\//.test(target) || target.startsWith('..')) return false;
  if (!target.startsWith('lambda/')) return true;
  if (dialectFiles.test(path) && dialectFiles.test(target)) return false;
  return unitOf(target) === unit || (rules[unit] ?? []).includes(unitOf(target));
}

describe('the architecture', () => {
  const sources = readSources(process.cwd(), ['lambda', 'lib', 'local', 'bin']);

  test('holds for every import', () => {
    expect(sources.length).toBeGreaterThan(40);
    expect(findViolations(sources)).toEqual([]);
  });

  test('has no circles', () => {
    expect(findCircles(sources)).toEqual([]);
  });

  test.each([
    ['lambda/quota/policy.ts', "import { chat } from '../dialects/chat.ts';"],
    ['lambda/dialects/chat.ts', "import { responses } from './responses.ts';"],
    ['lambda/identity/identify.ts', "import { DynamoDBClient } from '@aws-sdk/client-dynamodb';"],
    ['lambda/gateway.ts', "import { DynamoDBClient } from '@aws-sdk/client-dynamodb';"],
    ['lambda/secrets.ts', "import aws4 from 'aws4';"],
    ['lambda/upstream/pool.ts', "import middy from '@middy/core';"],
    ['lambda/app.ts', "import { startGateway } from '../local/start.ts';"],
    ['lambda/stream/relay.ts', "const { keys } = await import('../store/keys.ts');"],
    ['lambda/models.ts', 'const name = process.env.SERVICE_NAME;'],
    ['lambda/quota/charge.ts', 'const time = Date.now();'],
    ['lambda/unheard-of.ts', ''],
    ['lambda/gateway.ts', "import { createWallet } from './wallet/wallet.ts';"],
    ['lambda/wallet/keyring.ts', "import { createGateway } from '../gateway.ts';"],
    ['lambda/identity/identify.ts', "import { getAddress } from 'viem/utils';"],
    ['lambda/wallet/limits.ts', 'const time = Date.now();'],
    ['lib/tables.ts', "import { createKeyStore } from '../lambda/store/keys.ts';"],
  ])('is broken by %s: %s', (path, text) => {
    expect(findViolations([toSource(path, text)])).toHaveLength(1);
  });

  test('knows a circle when it sees one', () => {
    const [a, b] = [toSource('lambda/a.ts', "import './b.ts';"), toSource('lambda/b.ts', "import './a.ts';")];
    expect(findCircles([a, b])).toEqual([['lambda/a.ts', 'lambda/b.ts', 'lambda/a.ts']]);
  });
});
