import { Duration, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { allowBedrock } from './bedrock-rights.ts';
import { type FunctionProps, PublicFunction, type Right, toRead } from './own-function.ts';
import type { Secrets } from './secrets.ts';
import type { Tables } from './tables.ts';

/** The function that serves inference, one request at a time per environment. */
export class GatewayFunction extends PublicFunction {
  constructor(scope: Construct, id: string, props: GatewayProps) {
    const { memorySize, reservedConcurrency } = props.config;
    super(scope, id, {
      ...props,
      description: 'Private inference gateway',
      memorySize,
      timeout: Duration.minutes(15), // Lambda's maximum; REQUEST_TIMEOUT ends a request earlier
      reservedConcurrency,
      environment: environmentOf(scope, props),
      rights: rightsOf(props),
    });
    allowBedrock(this.role, props.config.settings.upstreams.all);
  }
}

export interface GatewayProps extends FunctionProps {
  readonly tables: Tables;
  readonly secrets: Secrets;
}

/** The gateway's environment, in either engine. */
export function environmentOf(scope: Construct, props: GatewayProps): Record<string, string> {
  return {
    ...props.config.environment,
    ...sharedEnvironment(scope, props),
    ...(props.secrets.upstream && { UPSTREAM_SECRET_ID: props.secrets.upstream.secretArn }),
  };
}

/** The environment that the gateway and the /cli function share: both use the same tables. */
export function sharedEnvironment(scope: Construct, { tables, secrets }: GatewayProps) {
  return {
    KEYS_TABLE: tables.keys.tableName,
    QUOTA_TABLE: tables.quota.tableName,
    NETWORK_SALT_SECRET_ID: secrets.networkSalt.secretArn,
    METRICS_NAMESPACE: Stack.of(scope).stackName,
    ...(secrets.edge && { EDGE_SECRET_ID: secrets.edge.secretArn }),
  };
}

/** The gateway's permissions, in either engine. */
export function rightsOf({ tables, secrets }: GatewayProps): Right[] {
  return [
    [tables.keys.tableArn, 'dynamodb:GetItem'],
    [tables.quota.tableArn, 'dynamodb:GetItem', 'dynamodb:UpdateItem'],
    ...toRead(secrets.upstream, secrets.networkSalt, secrets.edge),
  ];
}
