import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { originSecretHeader } from '../../lambda/identity/network.ts';
import { synthesizeStack } from '../support/stack.ts';

const certificate = 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-aaaa-bbbb-cccc-1234567890ab';
const webAcl = 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/gateway/0a1b2c3d-aaaa-bbbb-cccc-1234567890ab';
const { template, acknowledged } = synthesizeStack({
  edge: true,
  edgeDomainName: 'api.example.com',
  edgeCertificateArn: certificate,
  edgeWebAclArn: webAcl,
  edgeReadTimeout: 90,
});
const [distribution] = Object.values(template.findResources('AWS::CloudFront::Distribution'));
const config = distribution?.Properties.DistributionConfig;
const [secret] = Object.keys(template.findResources('AWS::SecretsManager::Secret')).filter((id) => /Edge/.test(id));

test('is off by default', () => {
  const { template: plain } = synthesizeStack();
  plain.resourceCountIs('AWS::CloudFront::Distribution', 0);
  plain.hasResourceProperties('AWS::Lambda::Function', {
    Environment: { Variables: { EDGE_HEADER: Match.absent(), EDGE_SECRET_ID: Match.absent() } },
  });
});

test("follows AWS's rules for solutions, except those that are acknowledged with a reason", () => {
  const always = ['SMG4', 'CFR1', 'CFR3'].map((rule) => `AwsSolutions-${rule}`);
  expect([...acknowledged].sort()).toEqual([...always].sort());
  const bare = synthesizeStack({ edge: true });
  expect([...bare.acknowledged].sort()).toEqual([...always, 'AwsSolutions-CFR2', 'AwsSolutions-CFR4'].sort());
});

describe('the distribution', () => {
  test('passes on all headers of the viewer except Host, and CloudFront’s own, everywhere', () => {
    const { DefaultCacheBehavior, CacheBehaviors } = config;
    for (const behavior of [DefaultCacheBehavior, ...CacheBehaviors]) {
      expect(behavior.OriginRequestPolicyId).toBe('b689b0a8-53d0-40ab-baf2-68738e2966ac');
      expect(behavior.AllowedMethods).toEqual(expect.arrayContaining(['GET', 'POST', 'OPTIONS']));
    }
  });

  // Otherwise everybody would get one caller's 503 for ten seconds: CloudFront ignores no-store here.
  test('caches none of the gateway’s errors either', () => {
    const kept = [500, 502, 503, 504].map((ErrorCode) => ({ ErrorCode, ErrorCachingMinTTL: 0 }));
    expect(config.CustomErrorResponses).toEqual(kept);
  });

  test('has the name, certificate and web ACL in the settings', () => {
    expect(config).toMatchObject({
      Aliases: ['api.example.com'],
      ViewerCertificate: {
        AcmCertificateArn: certificate,
        MinimumProtocolVersion: expect.stringMatching(/^TLSv1\.[23]/),
      },
      WebACLId: webAcl,
    });
    template.hasOutput('GatewayUrl', { Value: 'https://api.example.com/' });
    template.hasOutput('EdgeDomainName', {});
  });

  test('waits as long as the setting says, and proves itself with a secret that is in no template', () => {
    expect(config.Origins).toHaveLength(2);
    for (const origin of config.Origins) {
      expect(origin).toMatchObject({
        CustomOriginConfig: expect.objectContaining({ OriginReadTimeout: 90, OriginProtocolPolicy: 'https-only' }),
        OriginCustomHeaders: [
          {
            HeaderName: originSecretHeader,
            HeaderValue: {
              'Fn::Join': ['', ['{{resolve:secretsmanager:', { Ref: secret }, ':SecretString:::}}']],
            },
          },
        ],
      });
    }
    // CloudFront refuses to send headers with these prefixes.
    expect(originSecretHeader).not.toMatch(/^x-(edge|amz)-/);
  });

  test('reads another version of the secret if the setting names it', () => {
    const version = '0a1b2c3d-aaaa-bbbb-cccc-1234567890ab';
    const text = JSON.stringify(synthesizeStack({ edge: true, edgeSecretVersion: version }).template.toJSON());
    expect(text).toContain(`:SecretString:::${version}}}`);
  });
});

test('the web ACL in the docs limits addresses, and inspects no body', () => {
  const acl = JSON.parse(readFileSync('docs/web-acl.json', 'utf8'));
  expect(acl).toMatchObject({ Scope: 'CLOUDFRONT', DefaultAction: { Allow: {} } });
  // What WAF takes: https://docs.aws.amazon.com/waf/latest/APIReference/API_CreateWebACL.html
  expect(acl.Name).toMatch(/^[\w-]{1,128}$/);
  expect(acl.Description).toMatch(/^[\w+=:#@/\-,.][\w+=:#@/\-,.\s]{1,254}[\w+=:#@/\-,.]$/);
  const statements = acl.Rules.map(({ Statement }: { Statement: object }) => Statement);
  expect(statements).toEqual([
    { RateBasedStatement: { Limit: expect.any(Number), EvaluationWindowSec: 60, AggregateKeyType: 'IP' } },
  ]);
});

describe('turning it on without an outage, step by step', () => {
  const domain = { edgeDomainName: 'api.example.com', edgeCertificateArn: certificate };
  const synthesize = (settings: object) => synthesizeStack({ ...settings }).template.toJSON();
  const none = synthesize({});
  const both = synthesize({ edge: true, ...domain, EDGE_ONLY: false });
  const alone = synthesize({ edge: true, ...domain });
  const steps = [none, both, alone];
  type Step = typeof none;
  const idsOf = (step: Step, type: string) =>
    Object.keys(step.Resources).filter((id) => step.Resources[id].Type === type);
  const settingsOf = (step: Step) =>
    idsOf(step, 'AWS::Lambda::Function').flatMap((id) => {
      const {
        EDGE_HEADER: header,
        EDGE_ONLY: only,
        EDGE_SECRET_ID: secret,
      } = step.Resources[id].Properties.Environment?.Variables ?? {};
      return header || only ? [{ header, only, secret: secret !== undefined }] : [];
    });

  test('functions trust nobody, then CloudFront and those who bypass it, then CloudFront alone', () => {
    const header = 'cloudfront-viewer-address';
    expect(steps.map(settingsOf)).toEqual([
      [{ header: undefined, only: 'true', secret: false }],
      Array(2).fill({ header, only: 'false', secret: true }),
      Array(2).fill({ header, only: 'true', secret: true }),
    ]);
  });

  test('no step removes or renames anything that callers use', () => {
    for (const type of ['AWS::Lambda::Url', 'AWS::Lambda::Permission', 'AWS::Lambda::Function']) {
      expect(new Set(steps.map((step) => idsOf(step, type).sort().join()))).toHaveProperty('size', 1);
    }
    expect(idsOf(both, 'AWS::CloudFront::Distribution')).toEqual(idsOf(alone, 'AWS::CloudFront::Distribution'));
    const distributionOf = (step: Step) => step.Resources[idsOf(step, 'AWS::CloudFront::Distribution')[0] ?? ''];
    expect(distributionOf(both)).toEqual(distributionOf(alone));
  });

  test('the last step changes only functions', () => {
    const changed = Object.keys(alone.Resources).filter(
      (id) => JSON.stringify(both.Resources[id]) !== JSON.stringify(alone.Resources[id]),
    );
    expect(changed.sort()).toEqual(
      idsOf(alone, 'AWS::Lambda::Function')
        .filter((id) => !/^Custom/.test(id))
        .sort(),
    );
  });
});
