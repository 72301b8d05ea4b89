import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle, bundleServer, measure } from '../lib/bundle.ts';
import { readDeploymentConfig } from '../lib/config.ts';
import { upstreamModel, upstreamNames } from './world/conversation.ts';
import type { World } from './world/world.ts';

/** A function or a server to be measured. */
export type Subject = Awaited<ReturnType<typeof buildSubjects>>[number];

/** Every feature on: names to hide, and limits that the bench does not reach. */
const gatewaySettings = {
  UPSTREAM_TEXT_MODEL: upstreamModel,
  UPSTREAM_VISION_MODEL: `${upstreamModel}-vision`,
  UPSTREAM_EMBEDDINGS_MODEL: `${upstreamModel}-embedding`,
  UPSTREAM_NAMES: upstreamNames.join(','),
  IDENTITY_CACHE_SECONDS: '60',
  BURST_LIMIT: '10000',
};

const secretIds = { UPSTREAM_SECRET_ID: 'upstream', NETWORK_SALT_SECRET_ID: 'network-salt' };

/** The environment of a host that runs the server. */
const host = {
  ...{ AWS_REGION: 'local', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
  ...{ UPSTREAM_API_KEYS: 'upstream-key', NETWORK_SALT: 'a salt of at least sixteen characters' },
};

const PRICES = JSON.stringify({
  svc: { input: 2.5, output: 10, cacheRead: 0.25, cacheWrite: 3.125 },
  'svc-vision': { input: 1, output: 4 },
  'svc-embedding': { input: 0.02 },
});

/** Each runs one of three baselines, the function or the server, with these settings besides those that all have. */
const plans = {
  bare: ['bench/subjects/bare.ts'],
  bareDynamoDb: ['bench/subjects/bare-dynamodb.ts'],
  gateway: ['lambda/index.ts', secretIds],
  gatewayOfChat: ['lambda/index.ts', { ...secretIds, UPSTREAM_DIALECTS: 'chat' }],
  gatewayOfMessages: [
    'lambda/index.ts',
    { ...secretIds, UPSTREAM_DIALECTS: 'messages', UPSTREAM_OUTPUT_LIMIT: '4096' },
  ],
  gatewayWithPrices: ['lambda/index.ts', { ...secretIds, PRICES }],
  bareServer: ['bench/subjects/bare-server.ts'],
  server: ['lambda/server.ts', host],
  serverWithPrices: ['lambda/server.ts', { ...host, PRICES }],
} satisfies Record<string, [entry: string, settings?: Record<string, string>]>;

export type SubjectName = keyof typeof plans;

/** Builds every subject as for a deployment, each into its own folder. */
export async function buildSubjects(folder: string, world: World) {
  const { context } = JSON.parse(await readFile(join(import.meta.dirname, '../cdk.json'), 'utf8'));
  const { memorySize, environment: deployed } = readDeploymentConfig(context.gateway);
  const around = { ...world.environment, UPSTREAM_BASE_URL: world.upstreamUrl };
  return await Promise.all(
    (Object.keys(plans) as SubjectName[]).map(async (name) => {
      const [entry, settings]: readonly [string, Record<string, string>?] = plans[name];
      const environment = settings ? { ...deployed, ...around, ...gatewaySettings, ...settings } : around;
      const code = join(folder, name);
      const kilobytes = measure(await build(entry, code)).total / 1024;
      const lambda = { folder: code, handler: 'index.handler', memorySize, timeoutMs: 900_000 };
      /** What Node runs of a server. */
      const file = join(code, entry === 'lambda/server.ts' ? 'index.js' : 'index.mjs');
      return { name, lambda, file, environment, kilobytes };
    }),
  );
}

/** The gateway of another checkout, whose packages are installed. */
export async function buildOther(checkout: string, folder: string, world: World): Promise<Subject> {
  const lib = (name: string) => import(pathToFileURL(resolve(checkout, 'lib', name)).href);
  const { context } = JSON.parse(await readFile(join(checkout, 'cdk.json'), 'utf8'));
  const { memorySize, environment: deployed } = (await lib('config.ts')).readDeploymentConfig(context.gateway);
  const around = { ...world.environment, UPSTREAM_BASE_URL: world.upstreamUrl };
  const code = join(folder, 'other');
  await (await lib('bundle.ts')).bundle('lambda/index.ts', code);
  return {
    ...{ name: 'gateway', file: join(code, 'index.mjs'), kilobytes: Number.NaN },
    lambda: { folder: code, handler: 'index.handler', memorySize, timeoutMs: 900_000 },
    environment: { ...deployed, ...around, ...gatewaySettings, ...secretIds },
  };
}

/** The baselines are built as anyone would build them, without what makes the gateway's own functions start sooner. */
function build(entry: string, code: string) {
  if (entry === 'lambda/server.ts') return bundleServer(code);
  return entry.startsWith('bench/') ? bundle(entry, code, { plugins: [] }) : bundle(entry, code);
}
