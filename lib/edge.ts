import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import { FunctionUrlOrigin, type FunctionUrlOriginProps, HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { FunctionUrl } from 'aws-cdk-lib/aws-lambda';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Duration, SecretValue, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { originSecretHeader } from '../lambda/identity/network.ts';
import type { DeploymentConfig } from './config.ts';

/** A function's URL, or the domain of a web function's endpoint. */
type Origin = FunctionUrl | string;

interface EdgeProps {
  readonly config: DeploymentConfig;
  readonly origin: Origin;
  /** Origins of other paths, by pattern, such as `/cli/*`. */
  readonly other: { readonly url: Origin; readonly paths: readonly string[] };
  /** Proves to the functions that a request came through the distribution. */
  readonly secret: Secret;
}

/**
 * CloudFront in front of the functions: your own domain, a web ACL, an edge location near the caller. It sends a secret header
 * instead of signing requests (origin access control), which would require clients to send a hash of each body.
 */
export class Edge extends Construct {
  readonly url: string;
  /** The target for the DNS record of your own domain. */
  readonly domainName: string;
  readonly distributionId: string;

  constructor(scope: Construct, id: string, { config, origin, other, secret }: EdgeProps) {
    super(scope, id);
    const { edgeDomainName: domainName, edgeCertificateArn: certificateArn, edgeWebAclArn: webAclArn } = config;
    const behaviorFor = (to: Origin): cloudfront.BehaviorOptions => ({
      origin: toOrigin(to, {
        // The longest silence within a response. Streams have keep-alives, plain responses have none.
        readTimeout: Duration.seconds(config.edgeReadTimeout),
        customHeaders: { [originSecretHeader]: readSecret(secret, config.edgeSecretVersion) },
      }),
      // A redirect would be too late: the key has already been sent in clear text.
      viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
      allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
      cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
      // Everything that the viewer sent except `Host`, and CloudFront's location headers, which include the viewer's address:
      // https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/adding-cloudfront-headers.html
      originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      compress: false, // would buffer events
    });
    const otherBehavior = behaviorFor(other.url);
    const distribution = new cloudfront.Distribution(this, 'Distribution', {
      comment: 'Private inference gateway',
      publishAdditionalMetrics: true, // for the rate of each status: a gateway that times out is a 504 here
      httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
      ...(domainName && { domainNames: [domainName] }),
      ...(certificateArn && { certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn) }),
      ...(webAclArn && { webAclId: webAclArn }),
      errorResponses: keptErrors.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      defaultBehavior: behaviorFor(origin),
      additionalBehaviors: Object.fromEntries(other.paths.map((path) => [path, otherBehavior])),
    });
    for (const [rule, reason] of acknowledged)
      Validations.of(distribution).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
    this.url = `https://${domainName ?? distribution.distributionDomainName}/`;
    this.domainName = distribution.distributionDomainName;
    this.distributionId = distribution.distributionId;
  }
}

function toOrigin(to: Origin, options: FunctionUrlOriginProps): cloudfront.IOrigin {
  if (to instanceof FunctionUrl) return new FunctionUrlOrigin(to, options);
  return new HttpOrigin(to, { ...options, protocolPolicy: cloudfront.OriginProtocolPolicy.HTTPS_ONLY });
}

/**
 * CloudFront caches these for ten seconds, whatever the cache policy and `cache-control: no-store` say:
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/custom-error-pages-expiration.html
 */
const keptErrors = [500, 502, 503, 504];

const acknowledged = [
  ['CFR1', 'Restricting callers by country is left to the web ACL, which the operator supplies.'],
  ['CFR2', 'A web ACL is a setting (edgeWebAclArn), as it must live in us-east-1; docs/hosting.md has one.'],
  ['CFR3', 'The function logs every request; access logs would store addresses, which it never does.'],
  [
    'CFR4',
    'The TLS versions of a domain that CloudFront names are not ours to set; with a certificate they are 1.2 and up.',
  ],
] as const;

/** A dynamic reference, which CloudFormation resolves at deployment, so that the template does not contain the value. */
function readSecret(secret: Secret, versionId: string | undefined): string {
  return SecretValue.secretsManager(secret.secretArn, { ...(versionId && { versionId }) }).unsafeUnwrap();
}
