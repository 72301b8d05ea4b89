import { WebFunction, WebFunctionAuthType, WebFunctionRuntime } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Aws, Duration, Stack, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { environmentOf, type GatewayProps, rightsOf } from './gateway-function.ts';
import { allow, createLogs, createRole } from './own-function.ts';
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
    const { maxConcurrency, maxEnvironments, rateLimit, serverEnvironment } = config;
    this.logGroup = createLogs(this, 'Logs', config);
    // Lambda keeps lines in transit here. If it were missing, Lambda would create it, without an expiry:
    // https://docs.aws.amazon.com/lambda/latest/dg/web-functions-logging.html
    const companion = createLogs(this, 'LocalLogs', config, `${this.logGroup.logGroupName}.local`);
    const role = createRole(this, 'Role', [this.logGroup, companion]);
    for (const right of rightsOf(props)) allow(role, right);

    const server = new WebFunction(this, 'Function', {
      // Names must be unique across the regions of an account, and another region may have a stack of the same stage.
      webFunctionName: `${Stack.of(this).stackName}-${Aws.REGION}`,
      revisionDescription: 'Private inference gateway',
      runtime: WebFunctionRuntime.NODEJS_24_X,
      code: new WebCode(this, 'Code', { folder: code, config }).code,
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
