import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { upstreamModel, upstreamNames } from './world/conversation.ts';
import type { World } from './world/world.ts';

const here = join(import.meta.dirname, '..');

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

/** The environment that a host gives the server. */
const host = {
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  UPSTREAM_API_KEYS: 'upstream-key',
  NETWORK_SALT: 'a salt of at least sixteen characters',
};

const PRICES = JSON.stringify({
  svc: { input: 2.5, output: 10, cacheRead: 0.25, cacheWrite: 3.125 },
  'svc-vision': { input: 1, output: 4 },
  'svc-embedding': { input: 0.02 },
});

/** What each subject runs (a baseline, the function or the server), and its settings besides the common ones. */
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
  /** Portkey's gateway, which is installed, not built. */
  portkey: ['bench/subjects/portkey.ts'],
} satisfies Record<string, [entry: string, settings?: Record<string, string>]>;

export type SubjectName = keyof typeof plans;

/** Builds these as for a deployment, each into its own folder: from this checkout, or another one whose packages are installed. */
export async function buildSubjects(names: Iterable<SubjectName>, folder: string, world: World, checkout = here) {
  const lib = (name: string) => import(pathToFileURL(resolve(checkout, 'lib', name)).href);
  const bundles: Bundles = await lib('bundle.ts');
  const { readDeploymentConfig }: typeof import('../lib/config.ts') = await lib('config.ts');
  const { context } = JSON.parse(await readFile(join(checkout, 'cdk.json'), 'utf8'));
  const { memorySize, environment: deployed } = readDeploymentConfig(context.gateway);
  const around = { ...world.environment, UPSTREAM_BASE_URL: world.upstreamUrl };
  return await Promise.all(
    Array.from(new Set(names), async (name) => {
      const [entry, settings]: readonly [string, Record<string, string>?] = plans[name];
      const environment = settings ? { ...deployed, ...around, ...gatewaySettings, ...settings } : around;
      const isOurs = name !== 'portkey';
      const code = join(folder, name);
      const kilobytes = isOurs ? bundles.measure(await build(bundles, entry, code)).total / 1024 : 0;
      const lambda = { folder: code, handler: 'index.handler', memorySize, timeoutMs: 900_000 };
      /** The file that Node runs. */
      const built = join(code, entry === 'lambda/server.ts' ? 'index.js' : 'index.mjs');
      const file = isOurs ? built : join(here, entry);
      return { name, lambda, file, environment, kilobytes, headers: isOurs ? {} : toPortkey(world) };
    }),
  );
}

/** Tells Portkey's gateway, as its clients do, where the upstream is. */
const toPortkey = ({ upstreamUrl }: World) => ({
  authorization: 'Bearer upstream-key',
  'content-type': 'application/json',
  'x-portkey-provider': 'openai',
  'x-portkey-custom-host': upstreamUrl,
});

type Bundles = typeof import('../lib/bundle.ts');

/** Baselines are bundled as anyone would, without the optimizations for the gateway's own cold start. */
function build({ bundle, bundleServer }: Bundles, entry: string, code: string) {
  if (entry === 'lambda/server.ts') return bundleServer(code);
  return entry.startsWith('bench/') ? bundle(entry, code, { plugins: [] }) : bundle(entry, code);
}
