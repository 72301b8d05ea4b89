import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundle, measure } from '../lib/bundle.ts';
import { readDeploymentConfig } from '../lib/config.ts';
import type { LambdaFunction } from '../local/runtime/lambda-runtime.ts';
import { upstreamModel, upstreamNames } from './world/conversation.ts';
import { secretIds, secretTexts } from './world/store.ts';
import type { World } from './world/world.ts';

export const subjectNames = ['bare', 'bareDynamoDb', 'gateway', 'gatewayUncached', 'gatewayWithoutSecrets'] as const;
export type SubjectName = (typeof subjectNames)[number];

/** A function to be measured. */
export interface Subject {
  readonly name: SubjectName;
  readonly lambda: LambdaFunction;
  readonly environment: Readonly<Record<string, string>>;
  /** Bytes of its JavaScript. */
  readonly size: { readonly total: number; readonly start: number };
}

const root = join(import.meta.dirname, '..');

/** Builds every function as the gateway is built for its deployment, into a folder for each. */
export async function buildSubjects(folder: string, world: World): Promise<readonly Subject[]> {
  const { context } = JSON.parse(await readFile(join(root, 'cdk.json'), 'utf8'));
  const { memorySize, environment } = readDeploymentConfig(context.gateway);
  const { AWS_ENDPOINT_URL_DYNAMODB = '', KEYS_TABLE = '', QUOTA_TABLE = '' } = world.store.environment;
  const around = { UPSTREAM_BASE_URL: world.upstreamUrl };
  const withoutSecrets = { ...environment, ...world.store.environment, ...around, ...gatewaySettings };
  const gateway = { ...withoutSecrets, ...secretIds };
  const plans: Record<SubjectName, { entry: string; environment: Readonly<Record<string, string>> }> = {
    bare: { entry: 'bench/subjects/bare.ts', environment: around },
    bareDynamoDb: {
      entry: 'bench/subjects/bare-dynamodb.ts',
      environment: { ...around, AWS_ENDPOINT_URL_DYNAMODB, KEYS_TABLE, QUOTA_TABLE },
    },
    gateway: { entry: 'lambda/index.ts', environment: gateway },
    gatewayUncached: { entry: 'lambda/index.ts', environment: { ...gateway, IDENTITY_CACHE_SECONDS: '0' } },
    gatewayWithoutSecrets: {
      entry: 'lambda/index.ts',
      environment: { ...withoutSecrets, UPSTREAM_API_KEYS: 'upstream-key', NETWORK_SALT: secretTexts.networkSalt },
    },
  };
  const subjects: Subject[] = [];
  for (const name of subjectNames) {
    const { entry, environment } = plans[name];
    const code = join(folder, name);
    const size = measure(await bundle(entry, code));
    const lambda = { folder: code, handler: 'index.handler', memorySize, timeoutMs: 900_000 };
    subjects.push({ name, lambda, environment, size });
  }
  return subjects;
}

/** All of the product on: names to hide, and limits that the bench does not meet. */
const gatewaySettings = {
  UPSTREAM_TEXT_MODEL: upstreamModel,
  UPSTREAM_VISION_MODEL: `${upstreamModel}-vision`,
  UPSTREAM_NAMES: upstreamNames.join(','),
  IDENTITY_CACHE_SECONDS: '60',
  BURST_LIMIT: '10000',
};
