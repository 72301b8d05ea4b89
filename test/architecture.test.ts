import { describe, expect, test } from '@jest/globals';
import { findCircles, readSources, type SourceFile, toSource } from './support/imports.ts';

/**
 * Who may import whom inside lambda/, one row for each folder, or for each file of a room whose
 * files stand on different steps, leaves first. A row may import what it lists and
 * itself; so data flows one way, and each kind of change touches one place.
 */
const rules: Readonly<Record<string, readonly string[]>> = {
  'http/errors': [],
  'http/excerpt': [],
  'report/metric-names': [],
  'report/flush': [],
  'report/gather': [],
  'settings/setting': [],
  'settings/read-settings': ['settings/setting'],
  'settings/settings': ['report/metric-names', 'settings/setting'],
  json: [],
  'http/room': [],
  'http/call': ['http/room'],
  'http/pipeline': [],
  'settings/server-config': ['settings/read-settings', 'settings/settings'],
  'settings/config': ['settings/read-settings', 'settings/setting', 'settings/settings'],
  models: ['http/excerpt', 'settings/settings'],
  'settings/refreshed': [],
  'settings/secrets': ['settings/config', 'settings/refreshed', 'http/errors', 'settings/setting', 'settings/settings'],
  identity: ['http/errors'],
  quota: ['http/errors', 'identity'],
  dialects: ['http/errors', 'http/excerpt', 'json', 'settings/settings'],
  'http/write-body': [],
  upstream: ['settings/config', 'dialects', 'http/errors', 'http/write-body', 'json', 'models'],
  stream: ['dialects', 'http/errors', 'json', 'upstream'],
  store: ['settings/read-settings', 'http/errors', 'identity', 'quota', 'settings/secrets'],
  'http/routes': ['http/call', 'http/cors', 'http/websocket', 'dialects', 'http/errors'],
  'report/emf': ['report/metric-names'],
  'http/decode-body': ['http/call', 'http/errors'],
  'http/gateway-request': [
    'http/call',
    'upstream',
    'dialects',
    'http/errors',
    'identity',
    'models',
    'quota',
    'http/routes',
  ],
  'http/cors': ['http/call', 'identity'],
  'http/websocket': ['http/call'],
  'http/gateway-headers': ['http/cors', 'http/gateway-request'],
  'report/measure': ['report/emf', 'http/errors', 'http/gateway-request', 'report/metric-names'],
  'report/log': ['report/emf', 'http/gateway-request', 'report/measure'],
  'http/read-json-body': ['http/call', 'http/errors', 'json'],
  middleware: [
    'http/call',
    'http/room',
    'http/decode-body',
    'http/pipeline',
    'dialects',
    'http/errors',
    'http/excerpt',
    'http/gateway-headers',
    'http/gateway-request',
    'identity',
    'json',
    'report/log',
    'models',
    'quota',
    'http/read-json-body',
    'upstream',
  ],
  pipelines: [
    'http/call',
    'http/pipeline',
    'http/cors',
    'dialects',
    'http/errors',
    'http/gateway-headers',
    'http/gateway-request',
    'identity',
    'json',
    'report/log',
    'middleware',
    'models',
    'quota',
    'stream',
    'upstream',
  ],
  app: [
    'http/call',
    'http/cors',
    'http/errors',
    'http/gateway-headers',
    'http/gateway-request',
    'identity',
    'pipelines',
    'http/routes',
  ],
  'engines/last-resort': ['dialects', 'http/errors', 'http/gateway-request'],
  'engines/function-url': ['engines/last-resort', 'http/call', 'http/gateway-request', 'http/room'],
  'engines/http-request': [],
  'engines/read-body': [],
  'engines/descriptors': [],
  'engines/listen': ['settings/read-settings'],
  'engines/body-budget': ['http/errors', 'http/room'],
  'engines/incoming-body': ['engines/read-body', 'http/call', 'http/errors', 'http/room'],
  'engines/write-response': ['http/gateway-request', 'http/write-body'],
  'engines/http-server': [
    'engines/body-budget',
    'engines/http-request',
    'engines/incoming-body',
    'engines/last-resort',
    'engines/listen',
    'engines/write-response',
    'http/call',
    'http/errors',
    'http/gateway-request',
  ],
  // The composition: it may know every part but those that use it.
  gateway: [
    'app',
    'settings/config',
    'dialects',
    'http/gateway-headers',
    'identity',
    'report/log',
    'models',
    'quota',
    'http/routes',
    'settings/refreshed',
    'settings/secrets',
    'store',
    'stream',
    'upstream',
  ],
  index: ['settings/config', 'gateway', 'engines/function-url', 'store'],
  'gateway-with-wallet': ['app', 'gateway', 'settings/config', 'wallet'],
  serve: [
    'engines/descriptors',
    'engines/http-server',
    'gateway',
    'gateway-with-wallet',
    'report/log',
    'settings/config',
    'settings/refreshed',
    'settings/server-config',
    'store',
    'wallet',
  ],
  server: [
    'report/flush',
    'report/gather',
    'report/log',
    'serve',
    'settings/config',
    'settings/read-settings',
    'settings/server-config',
    'store',
    'wallet',
  ],
  // A client of the gateway, which takes nothing of it.
  canary: [
    'report/emf',
    'report/metric-names',
    'settings/read-settings',
    'settings/secrets',
    'settings/setting',
    'settings/settings',
    'store',
  ],
  // A function of its own: it takes what it shares from below, and nothing of the gateway takes anything from it.
  wallet: [
    'dialects', // the shape of an error
    'http/call',
    'http/pipeline',
    'settings/config',
    'settings/read-settings',
    'settings/setting',
    'settings/settings',
    'report/emf',
    'http/errors',
    'http/gateway-headers',
    'http/gateway-request',
    'engines/function-url',
    'identity',
    'report/log',
    'report/metric-names',
    'quota',
    'settings/refreshed',
    'settings/secrets',
    'store',
  ],
};

/** Packages that only some places may use. */
const packageRules: readonly { readonly name: RegExp; readonly allowed: RegExp }[] = [
  // That nothing of the SDK gets into the gateway's artifact is the bundle's test.
  { name: /^@aws-sdk\//, allowed: /^lambda\/(store\/|(wallet\/wallet|serve)\.ts$)/ },
  { name: /^aws-lambda$/, allowed: /^lambda\/engines\/function-url\.ts$/ },
  { name: /^@middy\//, allowed: /^lambda\/http\/pipeline\.ts$/ },
  { name: /^(viem|@noble\/)/, allowed: /^lambda\/wallet\// },
  { name: /^(aws-cdk-lib|constructs|cdk-nag|commander|dynalite)/, allowed: /^$/ },
];

/** What lib/ may take from lambda/: the schema of the tables and what their items cost, the settings, and the names of metrics and of the edge's headers. */
const sharedWithLib =
  /^lambda\/(store\/(schema|counter-cost)|settings\/(setting|settings|read-settings|config)|report\/metric-names|identity\/viewer-address)\.ts$/;

/** The inside of the wallet, leaves first: each may import those that stand before it. What a browser runs takes nothing from here. */
const walletSteps = [
  ...[
    'pages',
    'answers',
    'wallet-error',
    'config',
    'site',
    'wallet-request',
    'limits',
    'quota-of',
    'message',
    'sessions',
  ],
  ...['sign-in', 'keyring', 'input', 'log', 'page-files', 'facts', 'fill-page', 'security-headers'],
  ...['middleware', 'pipelines', 'actions', 'app', 'wallet', 'index'],
];

/** Who may import whom outside lambda/. A room of operator/ may also use what stands at operator/'s own root. */
const outside: Readonly<Record<string, readonly string[]>> = {
  lib: ['lambda'],
  local: ['lambda', 'lib'],
  operator: ['lambda', 'lib', 'local'],
  bench: ['lambda', 'lib', 'local'],
  bin: ['lambda', 'lib', 'local', 'operator'],
};

/** Which room of operator/ uses another. */
const operatorRooms: Readonly<Record<string, readonly string[]>> = {
  doctor: ['examination'],
  keys: ['setup'],
  probe: ['examination'],
};

/** Where a function begins: only there are the environment and the clock at hand. */
const entries = /^lambda\/((wallet\/|canary\/)?index|server)\.ts$/;

/** A server is made in one place, and so is what a process is told from outside. */
const servers = /\bcreateServer\(|\bprocess\.on\(/;
const mayServe = /^lambda\/(engines\/listen|server)\.ts$/;

const dialectFiles = /^lambda\/dialects\/(chat|responses|messages)\.ts$/;

function unitOf(path: string): string {
  return /^lambda\/((?:http|report|settings|engines)\/[^/]+?|[^/]+?)(\.ts|\/.*)$/.exec(path)?.[1] ?? '';
}

function findViolations(sources: readonly SourceFile[]): string[] {
  const violations: string[] = [];
  for (const { path, text, imports } of sources) {
    const unit = unitOf(path);
    for (const target of imports) {
      const allowed = path.startsWith('lambda/') ? mayLambdaImport(path, unit, target) : mayImportOutside(path, target);
      if (!allowed) violations.push(`${path} must not import ${target}`);
    }
    if (!path.startsWith('lambda/')) continue;
    if (!(unit in rules)) violations.push(`${path} has no rule: say what it may import`);
    if (/process\.env/.test(text) && !entries.test(path)) violations.push(`${path} must not read the environment`);
    if (servers.test(text) && !mayServe.test(path)) violations.push(`${path} must leave the platform to an engine`);
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
  if (/^(lib|local|operator|bin|bench|test)\//.test(target) || target.startsWith('..')) return false;
  if (!target.startsWith('lambda/')) return true;
  if (dialectFiles.test(path) && dialectFiles.test(target)) return false;
  const steps = [path, target].map((file) => /^lambda\/wallet\/([^/.]+)/.exec(file)?.[1]);
  if (steps.every((step) => step !== undefined)) {
    const [from = 0, to = 0] = steps.map((step = '') => walletSteps.indexOf(step));
    return from !== -1 && to !== -1 && to <= from;
  }
  return unitOf(target) === unit || (rules[unit] ?? []).includes(unitOf(target));
}

function mayImportOutside(path: string, target: string): boolean {
  const [[folder = '', room = ''], [targetFolder = '', targetRoom = '']] = [placeOf(path), placeOf(target)];
  if (!(targetFolder in outside) && !['lambda', 'test'].includes(targetFolder)) return true; // a package
  if (folder === 'lib' && targetFolder === 'lambda') return sharedWithLib.test(target);
  if (folder !== targetFolder) return (outside[folder] ?? []).includes(targetFolder);
  if (folder !== 'operator' || room === targetRoom || targetRoom === '') return true;
  return (operatorRooms[room] ?? []).includes(targetRoom);
}

/** A file's folder, and its room there where it stands in one. */
const placeOf = (path: string) => /^([a-z]+)\/(?:([^/]+)\/)?/.exec(path)?.slice(1) ?? [];

describe('the architecture', () => {
  const sources = readSources(process.cwd(), ['lambda', 'lib', 'local', 'operator', 'bench', 'bin']);

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
    ['lambda/upstream/pool.ts', "import middy from '@middy/core';"],
    ['lambda/app.ts', "import { startGateway } from '../local/start.ts';"],
    ['lambda/stream/relay.ts', "const { keys } = await import('../store/keys.ts');"],
    ['lambda/models.ts', 'const name = process.env.SERVICE_NAME;'],
    ['lambda/quota/charge.ts', 'const time = Date.now();'],
    ['lambda/unheard-of.ts', ''],
    ['lambda/app.ts', "import type { LambdaFunctionURLEvent } from 'aws-lambda';"],
    ['lambda/engines/http-server.ts', "import type { Context } from 'aws-lambda';"],
    ['lambda/app.ts', "import { lastResort } from './engines/last-resort.ts';"],
    ['lambda/gateway.ts', 'const server = createServer(app);'],
    ['lambda/gateway.ts', "import { createWallet } from './wallet/wallet.ts';"],
    ['lambda/canary/checks.ts', "import { createGateway } from '../gateway.ts';"],
    ['lambda/wallet/keyring.ts', "import { createGateway } from '../gateway.ts';"],
    ['lambda/identity/identify.ts', "import { getAddress } from 'viem/utils';"],
    ['lambda/wallet/limits.ts', 'const time = Date.now();'],
    ['lib/tables.ts', "import { createKeyStore } from '../lambda/store/keys.ts';"],
    ['lambda/wallet/limits.ts', "import { createActions } from './actions.ts';"],
    ['lambda/wallet/pages/cli/app.ts', "import type { Actions } from '../../actions.ts';"],
    ['lambda/wallet/unheard-of.ts', "import type { Actions } from './actions.ts';"],
    ['bench/world/session.ts', "import { startFakeSecrets } from '../../test/support/fake-secrets.ts';"],
    ['bench/run.ts', "import { runProgram } from '../operator/run-program.ts';"],
    ['operator/cost/model.ts', "import { parseSpan } from '../keys/parse.ts';"],
    ['operator/run-program.ts', "import { runDiff } from './diff/program.ts';"],
    ['local/start.ts', "import { runProgram } from '../operator/run-program.ts';"],
    ['bin/serve.ts', "import { waitUntil } from '../test/support/wait-until.ts';"],
  ])('is broken by %s: %s', (path, text) => {
    expect(findViolations([toSource(path, text)])).toHaveLength(1);
  });

  test('knows a circle when it sees one', () => {
    const [a, b] = [toSource('lambda/a.ts', "import './b.ts';"), toSource('lambda/b.ts', "import './a.ts';")];
    expect(findCircles([a, b])).toEqual([['lambda/a.ts', 'lambda/b.ts', 'lambda/a.ts']]);
  });
});
