import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { WebFunction, WebFunctionAuthType, WebFunctionRuntime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Aws, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { environmentOf, type GatewayProps, rightsOf } from './gateway-function.ts';
import { WebCode } from './web-code.ts';

/**
 * The gateway as an HTTP server in Lambda, with many requests in each environment. Its id, the function's name and the endpoint's
 * name are part of the endpoint's address: if one of them changes, clients need the new address.
 */
export class GatewayWebFunction extends Construct {
  readonly url: string;
  readonly domainName: string;
  readonly functionName: string;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: GatewayProps) {
    super(scope, id);
    const { config, commit, code } = props;
    const { maxConcurrency, maxEnvironments, rateLimit, logRetentionDays, serverEnvironment } = config;
    const logs = { retention: logRetentionDays, removalPolicy: RemovalPolicy.DESTROY };
    this.logGroup = new LogGroup(this, 'Logs', logs);
    // Lambda keeps lines in transit here. If it were missing, Lambda would create it, without an expiry:
    // https://docs.aws.amazon.com/lambda/latest/dg/web-functions-logging.html
    const companion = new LogGroup(this, 'LocalLogs', { ...logs, logGroupName: `${this.logGroup.logGroupName}.local` });

    // Its own role, because the CDK's default may write to every log group of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    const writeLogs = ['logs:CreateLogStream', 'logs:PutLogEvents'] as const;
    const rights = [
      ...[this.logGroup, companion].map(({ logGroupArn }) => [logGroupArn, ...writeLogs] as const),
      ...rightsOf(props),
    ];
    for (const [resource, ...actions] of rights) {
      role.addToPolicy(new PolicyStatement({ actions, resources: [resource] }));
    }

    const server = new WebFunction(this, 'Function', {
      // Names must be unique across the regions of an account, and another region may have a stack of the same stage.
      webFunctionName: `${Stack.of(this).stackName}-${Aws.REGION}`,
      revisionDescription: 'Private inference gateway',
      runtime: WebFunctionRuntime.NODEJS_24_X,
      code: new WebCode(this, 'Code', { folder: code, logRetentionDays }).code,
      role,
      logGroup: this.logGroup,
      timeout: Duration.minutes(15), // Lambda's longest; REQUEST_TIMEOUT ends a request before it
      maxConcurrencyPerEnvironment: maxConcurrency,
      environment: {
        ...environmentOf(scope, props),
        ...serverEnvironment,
        ...(commit !== undefined && { DEPLOYED_COMMIT: commit }),
      },
      defaultEndpointAuth: WebFunctionAuthType.APPLICATION_MANAGED, // the gateway authenticates callers itself
      defaultEndpoint: {
        endpointName: 'gateway',
        ...(maxEnvironments !== undefined && { maxEnvironments }),
        ...(rateLimit !== undefined && { rateLimit }),
      },
    });
    // No environment may start before its log group and its right to write there exist.
    server.resourceRevision.node.addDependency(role, companion);
    Validations.of(server.endpoint).acknowledge({
      id: 'Annotation::@aws-cdk/aws-lambda:webFunctionPublicEndpoint',
      reason: 'The gateway authenticates callers itself. Without a key it serves them only as guests.',
    });
    this.functionName = server.webFunctionName;
    this.domainName = server.endpoint.domainName;
    this.url = `https://${this.domainName}/`;
  }
}
