import { WebFunctionCode } from 'aws-cdk-lib/aws-lambda';
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from 'aws-cdk-lib/aws-s3';
import { type CfnElement, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { DeploymentConfig } from './config.ts';
import { createLogs, createRole } from './own-function.ts';

interface WebCodeProps {
  /** The folder of the built server. */
  readonly folder: string;
  readonly config: DeploymentConfig;
}

/**
 * The code of a web function, which Lambda reads whenever an environment starts, from a bucket with versioning. The CDK's own
 * bucket has none, so at each deployment a function of the CDK copies the code from there into this one.
 */
export class WebCode extends Construct {
  readonly code: WebFunctionCode;

  constructor(scope: Construct, id: string, { folder, config }: WebCodeProps) {
    super(scope, id);
    const bucket = new Bucket(this, 'Bucket', {
      versioned: true,
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      removalPolicy: RemovalPolicy.DESTROY, // the code can be built again, and the bucket is empty once its function is gone
    });
    const logGroup = createLogs(this, 'CopyLogs', config);
    const role = createRole(this, 'CopyRole', [logGroup]);
    this.code = WebFunctionCode.fromAssetToProvidedBucket(bucket as IBucket, folder, {
      exclude: ['*.map'],
      copyOptions: { role, logGroup },
    });
    const acknowledge = (scope: Construct, rule: string, reason: string) =>
      Validations.of(scope).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
    acknowledge(bucket, 'S1', 'It holds code alone, which Lambda reads at every start of an environment.');
    const bucketId = Stack.of(this).getLogicalId(bucket.node.defaultChild as CfnElement);
    for (const grant of [
      'Resource::arn:<AWS::Partition>:s3:::cdk-hnb659fds-assets-<AWS::AccountId>-<AWS::Region>/*',
      `Resource::<${bucketId}.Arn>/web-function/*`,
      'Action::s3:Abort*',
      'Action::s3:DeleteObject*',
    ]) {
      acknowledge(
        role,
        `IAM5[${grant}]`,
        'The CDK grants this to its own function, which copies the code, and to no other.',
      );
    }
  }
}
