import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { DeploymentConfig } from './config.ts';
import type { Secrets } from './secrets.ts';
import type { Tables } from './tables.ts';

interface GatewayFunctionProps {
  readonly config: DeploymentConfig;
  /** The folder of the built function. */
  readonly code: string;
  readonly tables: Tables;
  readonly secrets: Secrets;
}

/** The function that answers every request, and the URL where it does. */
export class GatewayFunction extends Construct {
  readonly url: string;

  constructor(scope: Construct, id: string, { config, code, tables, secrets }: GatewayFunctionProps) {
    super(scope, id);
    const logGroup = new LogGroup(this, 'Logs', {
      retention: config.logRetention,
      removalPolicy: RemovalPolicy.DESTROY, // logs only explain a gateway that runs
    });
    // A role of its own, as the one that the CDK would make may write to every log group of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    const allow = (resource: string, ...actions: string[]) =>
      role.addToPolicy(new PolicyStatement({ actions, resources: [resource] }));
    allow(logGroup.logGroupArn, 'logs:CreateLogStream', 'logs:PutLogEvents');
    allow(tables.keys.tableArn, 'dynamodb:GetItem');
    allow(tables.quota.tableArn, 'dynamodb:GetItem', 'dynamodb:UpdateItem');
    const readable = [secrets.upstream, secrets.networkSalt, ...(secrets.edge ? [secrets.edge] : [])];
    for (const secret of readable) allow(secret.secretArn, 'secretsmanager:GetSecretValue');

    const gateway = new lambda.Function(this, 'Function', {
      description: 'Private inference gateway',
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      handler: 'index.handler',
      code: lambda.Code.fromAsset(code, { exclude: ['*.map'] }),
      memorySize: config.memorySize,
      timeout: Duration.minutes(15), // Lambda's longest; REQUEST_TIMEOUT ends a request before it
      role,
      logGroup,
      loggingFormat: lambda.LoggingFormat.TEXT, // the function's lines are JSON already and arrive as it wrote them
      environment: {
        ...config.environment,
        KEYS_TABLE: tables.keys.tableName,
        QUOTA_TABLE: tables.quota.tableName,
        UPSTREAM_SECRET_ID: secrets.upstream.secretArn,
        NETWORK_SALT_SECRET_ID: secrets.networkSalt.secretArn,
        ...(secrets.edge && { EDGE_SECRET_ID: secrets.edge.secretArn }),
      },
    });
    // No `cors` block: the function answers CORS itself, and both together would answer twice.
    this.url = gateway.addFunctionUrl({
      authType: lambda.FunctionUrlAuthType.NONE, // callers prove themselves to the gateway, by key
      invokeMode: lambda.InvokeMode.RESPONSE_STREAM,
    }).url;
  }
}
