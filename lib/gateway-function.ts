import { Duration, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { DeploymentConfig } from './config.ts';
import { PublicFunction } from './public-function.ts';
import type { Secrets } from './secrets.ts';
import type { Tables } from './tables.ts';

interface GatewayFunctionProps {
  readonly config: DeploymentConfig;
  readonly commit: string | undefined;
  /** The folder of the built function. */
  readonly code: string;
  readonly tables: Tables;
  readonly secrets: Secrets;
}

/** The function that answers every request for inference. */
export class GatewayFunction extends PublicFunction {
  constructor(scope: Construct, id: string, { config, commit, code, tables, secrets }: GatewayFunctionProps) {
    super(scope, id, {
      config,
      commit,
      description: 'Private inference gateway',
      code,
      memorySize: config.memorySize,
      timeout: Duration.minutes(15), // Lambda's longest; REQUEST_TIMEOUT ends a request before it
      reservedConcurrency: config.reservedConcurrency,
      environment: {
        ...config.environment,
        KEYS_TABLE: tables.keys.tableName,
        QUOTA_TABLE: tables.quota.tableName,
        UPSTREAM_SECRET_ID: secrets.upstream.secretArn,
        NETWORK_SALT_SECRET_ID: secrets.networkSalt.secretArn,
        METRICS_NAMESPACE: Stack.of(scope).stackName,
        ...(secrets.edge && { EDGE_SECRET_ID: secrets.edge.secretArn }),
      },
    });
    this.allow(tables.keys.tableArn, 'dynamodb:GetItem');
    this.allow(tables.quota.tableArn, 'dynamodb:GetItem', 'dynamodb:UpdateItem');
    const readable = [secrets.upstream, secrets.networkSalt, ...(secrets.edge ? [secrets.edge] : [])];
    for (const secret of readable) this.allow(secret.secretArn, 'secretsmanager:GetSecretValue');
  }
}
