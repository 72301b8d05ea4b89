import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundle, bundleServer, measure } from '../lib/bundle.ts';
import { readDeploymentConfig } from '../lib/config.ts';
import type { LambdaFunction } from '../local/runtime/lambda-runtime.ts';
import { upstreamModel, upstreamNames } from './world/conversation.ts';
import { secretIds, secretTexts } from './world/store.ts';
import type { World } from './world/world.ts';

const functionNames = [
  'bare',
  'bareDynamoDb',
  'floor',
  'gateway',
  'gatewayUncached',
  'gatewayGuest',
  'gatewayWithoutSecrets',
  'gatewayOfChat',
  'gatewayWithPrices',
] as const;
export const subjectNames = [...functionNames, 'bareServer', 'server', 'serverWithPrices'] as const;
export type SubjectName = (typeof subjectNames)[number];

/** A function or a server to be measured. */
export interface Subject {
  readonly name: SubjectName;
  readonly lambda: LambdaFunction;
  /** What Node runs of a server. */
  readonly file: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Bytes of its JavaScript. */
  readonly size: { readonly total: number; readonly start: number };
}

const serverEntry = 'lambda/server.ts';
const root = join(import.meta.dirname, '..');

/** Builds every subject as for a deployment, each into its own folder. */
export async function buildSubjects(folder: string, world: World): Promise<readonly Subject[]> {
  const { context } = JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8'));
  const { memorySize, environment } = readDeploymentConfig(context.gateway);
  const { AWS_ENDPOINT_URL_DYNAMODB = '', KEYS_TABLE = '', QUOTA_TABLE = '' } = world.store.environment;
  const around = { UPSTREAM_BASE_URL: world.upstreamUrl };
  const table = { ...around, AWS_ENDPOINT_URL_DYNAMODB, KEYS_TABLE, QUOTA_TABLE };
  const withoutSecrets = { ...environment, ...world.store.environment, ...around, ...gatewaySettings };
  const gateway = { ...withoutSecrets, ...secretIds };
  const keysInEnvironment = {
    ...withoutSecrets,
    UPSTREAM_API_KEYS: 'upstream-key',
    NETWORK_SALT: secretTexts.networkSalt,
  };
  const plans: Record<SubjectName, { entry: string; environment: Readonly<Record<string, string>> }> = {
    bare: { entry: 'bench/subjects/bare.ts', environment: around },
    bareDynamoDb: { entry: 'bench/subjects/bare-dynamodb.ts', environment: table },
    floor: { entry: 'bench/subjects/floor.ts', environment: table },
    gateway: { entry: 'lambda/index.ts', environment: gateway },
    gatewayUncached: { entry: 'lambda/index.ts', environment: { ...gateway, IDENTITY_CACHE_SECONDS: '0' } },
    gatewayGuest: { entry: 'lambda/index.ts', environment: { ...gateway, GUEST_LIMIT: '1000000' } },
    gatewayOfChat: { entry: 'lambda/index.ts', environment: { ...gateway, UPSTREAM_DIALECTS: 'chat' } },
    gatewayWithoutSecrets: { entry: 'lambda/index.ts', environment: keysInEnvironment },
    gatewayWithPrices: { entry: 'lambda/index.ts', environment: { ...gateway, PRICES } },
    bareServer: { entry: 'bench/subjects/bare-server.ts', environment: around },
    server: { entry: serverEntry, environment: { ...keysInEnvironment, ...host } },
    serverWithPrices: { entry: serverEntry, environment: { ...keysInEnvironment, ...host, PRICES } },
  };
  const subjects: Subject[] = [];
  for (const name of subjectNames) {
    const { entry, environment } = plans[name];
    const code = join(folder, name);
    const size = measure(await build(entry, code));
    const lambda = { folder: code, handler: 'index.handler', memorySize, timeoutMs: 900_000 };
    const file = join(code, entry === serverEntry ? 'index.js' : 'index.mjs');
    subjects.push({ name, lambda, file, environment, size });
  }
  return subjects;
}

/** The baselines are built as anyone would build them, without what makes the gateway's own functions start sooner. */
function build(entry: string, code: string) {
  if (entry === serverEntry) return bundleServer(code);
  return entry.startsWith('bench/') ? bundle(entry, code, { plugins: [] }) : bundle(entry, code);
}

/** The environment of a host that runs the server. */
const host = { AWS_REGION: 'local', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' };

const PRICES = JSON.stringify({
  svc: { input: 2.5, output: 10, cacheRead: 0.25, cacheWrite: 3.125 },
  'svc-vision': { input: 1, output: 4 },
});

/** Every feature on: names to hide, and limits that the bench does not reach. */
const gatewaySettings = {
  UPSTREAM_TEXT_MODEL: upstreamModel,
  UPSTREAM_VISION_MODEL: `${upstreamModel}-vision`,
  UPSTREAM_NAMES: upstreamNames.join(','),
  IDENTITY_CACHE_SECONDS: '60',
  BURST_LIMIT: '10000',
};
