import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { DeploymentConfig } from './config.ts';
import { GatewayFunction } from './gateway-function.ts';
import { Secrets } from './secrets.ts';
import { Tables } from './tables.ts';

interface GatewayStackProps {
  readonly config: DeploymentConfig;
  /** The folder of the built function. */
  readonly code: string;
}

/**
 * One gateway. The names of its parts are part of the identity of what is deployed: with another one a table or a secret would be
 * made anew, and empty.
 */
export class GatewayStack extends Stack {
  constructor(scope: Construct, id: string, { config, code }: GatewayStackProps) {
    super(scope, id, { description: 'Private inference gateway' });
    const tables = new Tables(this, 'Tables');
    const secrets = new Secrets(this, 'Secrets', { edge: config.environment.EDGE_HEADER !== undefined });
    const gateway = new GatewayFunction(this, 'Gateway', { config, code, tables, secrets });

    // Read by the operator, and by the CLI that finds a deployed gateway's tables through them.
    const outputs = {
      GatewayUrl: gateway.url,
      KeysTable: tables.keys.tableName,
      QuotaTable: tables.quota.tableName,
      UpstreamSecret: secrets.upstream.secretArn,
      NetworkSaltSecret: secrets.networkSalt.secretArn,
      ServiceName: config.environment.SERVICE_NAME ?? '',
      MemberLimit: config.environment.MEMBER_LIMIT ?? '',
      ...(secrets.edge && { EdgeSecret: secrets.edge.secretArn }),
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}
