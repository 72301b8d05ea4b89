import { WebFunction, WebFunctionAuthType, WebFunctionCode, WebFunctionRuntime } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Aws, type CfnElement, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { allowBedrock } from './bedrock-rights.ts';
import { environmentOf, type GatewayProps, rightsOf } from './gateway-function.ts';
import { allow, createLogs, createRole } from './own-function.ts';

/**
 * The gateway as an HTTP server in Lambda, with concurrent requests per environment. Its id, the function's name and the
 * endpoint's name are part of the endpoint's address: if one of them changes, clients need the new address.
 */
export class GatewayWebFunction extends Construct {
  readonly url: string;
  readonly domainName: string;
  readonly functionName: string;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: GatewayProps) {
    super(scope, id);
    const { config, commit } = props;
    const { maxConcurrency, maxEnvironments, rateLimit, serverEnvironment } = config;
    this.logGroup = createLogs(this, 'Logs', config);
    // Lambda buffers log lines here. If this group were missing, Lambda would create it, without a retention time:
    // https://docs.aws.amazon.com/lambda/latest/dg/web-functions-logging.html
    const companion = createLogs(this, 'LocalLogs', config, `${this.logGroup.logGroupName}.local`);
    const role = createRole(this, 'Role', [this.logGroup, companion]);
    allow(role, rightsOf(props));
    allowBedrock(role, config.settings.upstreams.all);

    const server = new WebFunction(this, 'Function', {
      // Must be unique across the regions of an account: another region may have a stack of the same stage.
      webFunctionName: `${Stack.of(this).stackName}-${Aws.REGION}`,
      revisionDescription: 'Private inference gateway',
      runtime: WebFunctionRuntime.NODEJS_24_X,
      code: createCode(new Construct(this, 'Code'), props),
      role,
      logGroup: this.logGroup,
      timeout: Duration.minutes(15), // Lambda's maximum; REQUEST_TIMEOUT ends a request earlier
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
    // No environment may start before its log group exists and its role may write there.
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

/**
 * Lambda reads the code whenever an environment starts, from a versioned bucket. The CDK's own bucket is not versioned, so a CDK
 * custom resource copies the code from there into this one at each deployment.
 */
function createCode(scope: Construct, { code, config }: GatewayProps): WebFunctionCode {
  const bucket = new Bucket(scope, 'Bucket', {
    versioned: true,
    encryption: BucketEncryption.S3_MANAGED,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    removalPolicy: RemovalPolicy.DESTROY, // the code can be rebuilt, and the bucket is empty once its function is gone
  });
  const logGroup = createLogs(scope, 'CopyLogs', config);
  const role = createRole(scope, 'CopyRole', [logGroup]);
  const acknowledge = (of: Construct, rule: string, reason: string) =>
    Validations.of(of).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
  acknowledge(bucket, 'S1', 'It holds code alone, which Lambda reads at every start of an environment.');
  const copying = 'The CDK grants this to its own function, which copies the code, and to no other.';
  const bucketId = Stack.of(scope).getLogicalId(bucket.node.defaultChild as CfnElement);
  for (const grant of [
    'Resource::arn:<AWS::Partition>:s3:::cdk-hnb659fds-assets-<AWS::AccountId>-<AWS::Region>/*',
    `Resource::<${bucketId}.Arn>/web-function/*`,
    'Action::s3:Abort*',
    'Action::s3:DeleteObject*',
  ]) {
    acknowledge(role, `IAM5[${grant}]`, copying);
  }
  return WebFunctionCode.fromAssetToProvidedBucket(bucket as IBucket, code, {
    exclude: ['*.map'],
    copyOptions: { role, logGroup },
  });
}
