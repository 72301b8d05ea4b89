import { CfnOutput, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { hasClientsPage, reservedByDefault } from '../lambda/settings/config.ts';
import { takesKeys } from '../lambda/settings/read-upstreams.ts';
import { AccountsFunction } from './accounts-function.ts';
import { Alarms } from './alarms/alarms.ts';
import type { Artifact } from './bundle.ts';
import { Canary } from './canary.ts';
import type { DeploymentConfig } from './config.ts';
import { Dashboard } from './dashboard/dashboard.ts';
import { Edge } from './edge.ts';
import { createEdgeMetrics } from './edge-metrics.ts';
import { GatewayFunction, type GatewayProps } from './gateway-function.ts';
import { createGatewayMetrics } from './gateway-metrics.ts';
import { GatewayWebFunction } from './gateway-web-function.ts';
import { Secrets } from './secrets.ts';
import { Tables } from './tables.ts';

interface GatewayStackProps {
  readonly config: DeploymentConfig;
  /** The commit deployed; undefined if git does not know it. */
  readonly commit: string | undefined;
  /** The folder of a built artifact. */
  readonly codeOf: (name: Artifact) => string;
}

/** One gateway. Never change a construct's id: a table or secret under another id would be replaced by an empty one. */
export class GatewayStack extends Stack {
  constructor(scope: Construct, id: string, { config, commit, codeOf }: GatewayStackProps) {
    super(scope, id, {
      stackName: `${id}-${config.stage}`,
      description: 'Private inference gateway',
      terminationProtection: config.terminationProtection,
      tags: { service: config.environment.SERVICE_NAME ?? '', stage: config.stage, ...(commit && { commit }) },
    });
    const tables = new Tables(this, 'Tables');
    const secrets = new Secrets(this, 'Secrets', {
      upstream: takesKeys(config.settings.upstreams.all),
      edge: config.environment.EDGE_HEADER !== undefined,
      canary: config.canary,
      oidc: config.environment.OIDC_ISSUER !== undefined,
    });
    const parts = { config, commit, tables, secrets };
    const { gateway, web, main } = createEngine(this, { ...parts, codeOf });
    const accounts = new AccountsFunction(this, 'Wallet', { ...parts, code: codeOf('accounts'), gatewayUrl: main.url });
    const paths = ['/', '/cli', '/cli/*', '/docs', '/docs/*', '/oauth/*', '/.well-known/*'];
    const edge =
      config.edge && secrets.edge
        ? new Edge(this, 'Edge', {
            config,
            origin: main.origin,
            other: { url: accounts.url, paths },
            secret: secrets.edge,
          })
        : undefined;
    const url = edge?.url ?? main.url;
    const canary =
      secrets.canary &&
      new Canary(this, 'Canary', { config, commit, code: codeOf('canary'), url, secret: secrets.canary });
    const sources = { namespace: this.stackName, gateway, web, accounts, tables };
    const metrics = createGatewayMetrics({ ...sources, canary: canary !== undefined });
    const alarms = new Alarms(this, 'Alarms', { config, metrics });
    const dashboard = new Dashboard(this, 'Dashboard', {
      metrics,
      alarms,
      currency: config.environment.PRICES && config.environment.CURRENCY,
      logGroup: main.logGroup,
      functionLogGroup: gateway?.logGroup,
      walletLogGroup: accounts.logGroup,
      canaryLogGroup: canary?.logGroup,
      edge: edge && createEdgeMetrics(edge.distributionId),
    });

    // For operators and commands, which find a deployed gateway's tables here.
    const outputs = {
      GatewayUrl: url,
      WalletUrl: `${edge?.url ?? accounts.url.url}${hasClientsPage(config.settings.accounts) ? 'cli' : ''}`,
      KeysTable: tables.keys.tableName,
      QuotaTable: tables.quota.tableName,
      NetworkSaltSecret: secrets.networkSalt.secretArn,
      ServiceName: config.environment.SERVICE_NAME ?? '',
      MemberLimit: config.environment.MEMBER_LIMIT ?? '',
      Access: config.environment.ACCESS ?? '',
      LogGroup: main.logGroup.logGroupName,
      AlarmTopic: alarms.topic.topicArn,
      DashboardUrl: dashboard.url,
      ...(secrets.upstream && { UpstreamSecret: secrets.upstream.secretArn }),
      ...(config.environment.CONTEXT_WINDOW && { ContextWindow: config.environment.CONTEXT_WINDOW }),
      ...moneyOutputs(config),
      ...(commit && { Commit: commit }),
      ...(secrets.canary && { CanarySecret: secrets.canary.secretArn }),
      ...(secrets.edge && { EdgeSecret: secrets.edge.secretArn }),
      ...(accounts.signsIn && accounts.appUrl && { AppUrl: accounts.appUrl }),
      ...(config.environment.OIDC_ISSUER && { OidcIssuer: config.environment.OIDC_ISSUER }),
      ...(secrets.oidc && { OidcClientSecret: secrets.oidc.secretArn }),
      ...(edge && { EdgeDomainName: edge.domainName, EdgeDistribution: edge.distributionId }),
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}

/** What the commands need to show amounts of money. Without prices there are none. */
function moneyOutputs({ environment, settings }: DeploymentConfig) {
  const { CURRENCY, MEMBER_BUDGET, MEMBER_BUDGET_WINDOW } = environment;
  const { prices, reservedOutput } = settings.budget;
  if (!prices) return {};
  return {
    Currency: CURRENCY ?? '',
    ReservedByDefault: JSON.stringify(reservedByDefault(prices, reservedOutput)),
    ...(MEMBER_BUDGET && { MemberBudget: `${MEMBER_BUDGET}/${MEMBER_BUDGET_WINDOW}` }),
  };
}

type Parts = Omit<GatewayProps, 'code'> & Pick<GatewayStackProps, 'codeOf'>;

/** The gateway on the engine that the configuration names. */
function createEngine(scope: Construct, { codeOf, ...parts }: Parts) {
  if (parts.config.engine === 'web') {
    const web = new GatewayWebFunction(scope, 'Web', { ...parts, code: codeOf('server') });
    return { gateway: undefined, web, main: { url: web.url, origin: web.domainName, logGroup: web.logGroup } };
  }
  const gateway = new GatewayFunction(scope, 'Gateway', { ...parts, code: codeOf('gateway') });
  return { gateway, web: undefined, main: { url: gateway.url.url, origin: gateway.url, logGroup: gateway.logGroup } };
}
