import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Alarms } from './alarms/alarms.ts';
import type { DeploymentConfig } from './config.ts';
import { Dashboard } from './dashboard.ts';
import { Edge } from './edge.ts';
import { GatewayFunction } from './gateway-function.ts';
import { createGatewayMetrics } from './gateway-metrics.ts';
import { Secrets } from './secrets.ts';
import { Tables } from './tables.ts';
import { WalletFunction } from './wallet-function.ts';

interface GatewayStackProps {
  readonly config: DeploymentConfig;
  /** What is deployed; unknown where git has nothing to say. */
  readonly commit?: string | undefined;
  /** The folders of the built functions. */
  readonly code: { readonly gateway: string; readonly wallet: string };
}

/**
 * One gateway. The names of its parts are part of the identity of what is deployed: with another one a table or a secret would be
 * made anew, and empty.
 */
export class GatewayStack extends Stack {
  constructor(scope: Construct, id: string, { config, commit, code }: GatewayStackProps) {
    super(scope, id, {
      stackName: `${id}-${config.stage}`,
      description: 'Private inference gateway',
      terminationProtection: config.terminationProtection,
      tags: { service: config.environment.SERVICE_NAME ?? '', stage: config.stage, ...(commit && { commit }) },
    });
    const tables = new Tables(this, 'Tables');
    const secrets = new Secrets(this, 'Secrets', { edge: config.environment.EDGE_HEADER !== undefined });
    const gateway = new GatewayFunction(this, 'Gateway', { config, commit, code: code.gateway, tables, secrets });
    const wallet = new WalletFunction(this, 'Wallet', {
      ...{ config, commit, tables, secrets },
      code: code.wallet,
      gatewayUrl: gateway.url.url,
    });
    const edge =
      config.edge &&
      secrets.edge &&
      new Edge(this, 'Edge', {
        config: config.edge,
        origin: gateway.url,
        other: { url: wallet.url, paths: ['/', '/cli', '/cli/*', '/docs', '/docs/*'] },
        secret: secrets.edge,
      });
    const metrics = createGatewayMetrics({ namespace: this.stackName, serving: { gateway, wallet }, tables });
    const alarms = new Alarms(this, 'Alarms', { config, metrics });
    new Dashboard(this, 'Dashboard', {
      ...{ metrics, alarms, logGroups: [gateway.logGroup] },
      functionLogGroup: gateway.logGroup,
      walletLogGroup: wallet.logGroup,
    });

    // Read by the operator, and by the CLI that finds a deployed gateway's tables through them.
    const outputs = {
      GatewayUrl: edge?.url ?? gateway.url.url,
      WalletUrl: `${edge?.url ?? wallet.url.url}cli`,
      KeysTable: tables.keys.tableName,
      QuotaTable: tables.quota.tableName,
      UpstreamSecret: secrets.upstream.secretArn,
      NetworkSaltSecret: secrets.networkSalt.secretArn,
      ServiceName: config.environment.SERVICE_NAME ?? '',
      MemberLimit: config.environment.MEMBER_LIMIT ?? '',
      LogGroup: gateway.logGroup.logGroupName,
      AlarmTopic: alarms.topic.topicArn,
      ...(commit && { Commit: commit }),
      ...(secrets.edge && { EdgeSecret: secrets.edge.secretArn }),
      ...(edge && { EdgeDomainName: edge.domainName, EdgeDistribution: edge.distributionId }),
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}
