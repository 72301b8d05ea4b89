import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { type Duration, RemovalPolicy, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { DeploymentConfig } from './config.ts';

export interface FunctionProps {
  readonly config: DeploymentConfig;
  /** The commit deployed; undefined if git does not know it. */
  readonly commit: string | undefined;
  /** The folder of the built function. */
  readonly code: string;
}

interface OwnFunctionProps extends FunctionProps {
  readonly description: string;
  readonly memorySize: number;
  readonly timeout: Duration;
  readonly reservedConcurrency?: number | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly rights: readonly Right[];
}

/** A function with its own role and log group. It may write its log, and what its rights allow. */
export class OwnFunction extends Construct {
  readonly function: lambda.Function;
  readonly role: Role;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: OwnFunctionProps) {
    super(scope, id);
    const { config, commit, description, code, memorySize, timeout, reservedConcurrency, environment } = props;
    this.logGroup = createLogs(this, 'Logs', config);
    const role = createRole(this, 'Role', [this.logGroup]);
    this.role = role;
    this.function = new lambda.Function(this, 'Function', {
      description,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      handler: 'index.handler',
      code: lambda.Code.fromAsset(code, { exclude: ['*.map'] }),
      memorySize,
      timeout,
      ...(reservedConcurrency !== undefined && { reservedConcurrentExecutions: reservedConcurrency }),
      ...(config.tracing && { tracing: lambda.Tracing.ACTIVE }),
      role,
      logGroup: this.logGroup,
      loggingFormat: lambda.LoggingFormat.TEXT, // the function's lines are JSON already, and arrive unchanged
      environment: { ...environment, ...(commit !== undefined && { DEPLOYED_COMMIT: commit }) },
    });
    if (config.tracing) {
      const reason = 'X-Ray has no resources to name: traces are written to the account.';
      Validations.of(role).acknowledge({ id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]', reason });
    }
    allow(role, props.rights);
  }
}

/** Allowed actions on a resource. */
export type Right = readonly [resource: string, ...actions: string[]];

export function allow(role: Role, rights: readonly Right[]): void {
  for (const [resource, ...actions] of rights)
    role.addToPolicy(new PolicyStatement({ actions, resources: [resource] }));
}

/** The right to read those secrets that exist. */
export const toRead = (...secrets: readonly (Secret | undefined)[]): Right[] =>
  secrets.flatMap((secret): Right[] => (secret ? [[secret.secretArn, 'secretsmanager:GetSecretValue']] : []));

/**
 * CloudWatch encrypts log groups by default. A customer-managed key would cost a dollar a month and protect little: no line holds
 * a prompt, an answer, a key or an address.
 */
export function createLogs(scope: Construct, id: string, config: DeploymentConfig, logGroupName?: string): LogGroup {
  return new LogGroup(scope, id, {
    retention: config.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY, // of no use once the gateway is gone
    ...(logGroupName !== undefined && { logGroupName }),
  });
}

/** A role per function, because the CDK's default role may write to every log group of the account. */
export function createRole(scope: Construct, id: string, logGroups: readonly LogGroup[]): Role {
  const role = new Role(scope, id, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  allow(
    role,
    logGroups.map(({ logGroupArn }): Right => [logGroupArn, 'logs:CreateLogStream', 'logs:PutLogEvents']),
  );
  return role;
}

/** A function with a public URL. */
export class PublicFunction extends OwnFunction {
  readonly url: lambda.FunctionUrl;

  constructor(scope: Construct, id: string, props: OwnFunctionProps) {
    super(scope, id, props);
    // No `cors` block: the function answers CORS itself, and the headers would be sent twice.
    this.url = this.function.addFunctionUrl({
      authType: lambda.FunctionUrlAuthType.NONE, // the function authenticates callers itself
      invokeMode: lambda.InvokeMode.RESPONSE_STREAM,
    });
  }
}
