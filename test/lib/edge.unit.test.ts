import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { originSecretHeader } from '../../lambda/identity/network.ts';
import { compareTemplates } from '../../lib/diff/changes.ts';
import { synthesizeParts } from '../support/stack.ts';

const certificate = 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-aaaa-bbbb-cccc-1234567890ab';
const edgeWebAclArn = 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/gateway/0a1b2c3d-aaaa-bbbb-cccc-1234567890ab';
const domain = { edge: true, edgeDomainName: 'api.example.com', edgeCertificateArn: certificate };

describe('the distribution', () => {
  const { parts, outputs } = synthesizeParts({ ...domain, edgeWebAclArn, edgeReadTimeout: 90 });
  const config = parts['Edge/Distribution'].DistributionConfig;

  test('forwards all of the viewer’s headers except Host, and CloudFront’s own, everywhere', () => {
    for (const behavior of [config.DefaultCacheBehavior, ...config.CacheBehaviors]) {
      expect(behavior.OriginRequestPolicyId).toBe('b689b0a8-53d0-40ab-baf2-68738e2966ac');
      expect(behavior.AllowedMethods).toEqual(expect.arrayContaining(['GET', 'POST', 'OPTIONS']));
    }
  });

  test('routes to the gateway, and the paths of the pages to their function', () => {
    const origins = new Map<string, string>(
      config.Origins.map(({ Id, DomainName }: Record<string, unknown>) => [Id, JSON.stringify(DomainName)]),
    );
    const paths = ['/', '/cli', '/cli/*', '/docs', '/docs/*', '/oauth/*', '/.well-known/*'];
    expect(config.CacheBehaviors.map(({ PathPattern }: Record<string, unknown>) => PathPattern)).toEqual(paths);
    for (const { TargetOriginId } of config.CacheBehaviors) {
      expect(origins.get(TargetOriginId)).toContain('Wallet/Function/FunctionUrl.FunctionUrl');
    }
    expect(origins.get(config.DefaultCacheBehavior.TargetOriginId)).toContain(
      'Gateway/Function/FunctionUrl.FunctionUrl',
    );
  });

  // Otherwise everybody would get one caller's 503 for ten seconds: CloudFront ignores `no-store` here.
  test('caches none of the gateway’s errors either', () => {
    const kept = [500, 502, 503, 504].map((ErrorCode) => ({ ErrorCode, ErrorCachingMinTTL: 0 }));
    expect(config.CustomErrorResponses).toEqual(kept);
  });

  test('has the name, certificate and web ACL in the settings', () => {
    const MinimumProtocolVersion = expect.stringMatching(/^TLSv1\.[23]/);
    expect(config).toMatchObject({
      Aliases: ['api.example.com'],
      ViewerCertificate: { AcmCertificateArn: certificate, MinimumProtocolVersion },
      WebACLId: edgeWebAclArn,
    });
    expect(outputs.GatewayUrl.Value).toBe('https://api.example.com/');
    expect(parts['Wallet/Function'].Environment.Variables.APP_URL).toBe('https://api.example.com');
    expect(outputs).toHaveProperty('EdgeDomainName');
  });

  test('has the timeout in the setting, and authenticates with a secret that is in no template', () => {
    const HeaderValue = '{{resolve:secretsmanager:Secrets/Edge:SecretString:::}}';
    expect(config.Origins).toHaveLength(2);
    for (const origin of config.Origins) {
      expect(origin).toMatchObject({
        CustomOriginConfig: expect.objectContaining({ OriginReadTimeout: 90, OriginProtocolPolicy: 'https-only' }),
        OriginCustomHeaders: [{ HeaderName: originSecretHeader, HeaderValue }],
      });
    }
    // CloudFront refuses to send headers with these prefixes.
    expect(originSecretHeader).not.toMatch(/^x-(edge|amz)-/);
  });

  test('reads another version of the secret if the setting names it', () => {
    const edgeSecretVersion = '0a1b2c3d-aaaa-bbbb-cccc-1234567890ab';
    const { template } = synthesizeParts({ edge: true, edgeSecretVersion });
    expect(JSON.stringify(template)).toContain(`:SecretString:::${edgeSecretVersion}}}`);
  });
});

test('the web ACL in the docs limits addresses, and inspects no body', () => {
  const acl = JSON.parse(readFileSync('docs/web-acl.json', 'utf8'));
  expect(acl).toMatchObject({ Scope: 'CLOUDFRONT', DefaultAction: { Allow: {} } });
  // What WAF accepts: https://docs.aws.amazon.com/waf/latest/APIReference/API_CreateWebACL.html
  expect(acl.Name).toMatch(/^[\w-]{1,128}$/);
  expect(acl.Description).toMatch(/^[\w+=:#@/\-,.][\w+=:#@/\-,.\s]{1,254}[\w+=:#@/\-,.]$/);
  expect(acl.Rules.map(({ Statement }: { Statement: object }) => Statement)).toEqual([
    { RateBasedStatement: { Limit: expect.any(Number), EvaluationWindowSec: 60, AggregateKeyType: 'IP' } },
  ]);
});

describe('turning it on without an outage, step by step', () => {
  const steps = [{}, { ...domain, EDGE_ONLY: false }, domain].map((settings) => synthesizeParts(settings));
  const [none, both, alone] = steps as [(typeof steps)[0], (typeof steps)[0], (typeof steps)[0]];
  const functions = ['Gateway/Function', 'Wallet/Function'];

  test('functions accept direct calls, then also CloudFront’s, then only those', () => {
    const told = steps.map(({ parts }) =>
      functions.map((name) => {
        const { EDGE_HEADER, EDGE_ONLY, EDGE_SECRET_ID } = parts[name].Environment.Variables;
        return [EDGE_HEADER, EDGE_ONLY, EDGE_SECRET_ID];
      }),
    );
    const header = 'cloudfront-viewer-address';
    expect(told).toEqual([
      [
        [undefined, 'true', undefined],
        [undefined, undefined, undefined],
      ],
      Array(2).fill([header, 'false', 'Secrets/Edge']),
      Array(2).fill([header, 'true', 'Secrets/Edge']),
    ]);
  });

  test('the first step removes and renames nothing, and the last changes only functions', () => {
    const first = compareTemplates(none.template, both.template).resources;
    expect(first.filter(({ kind, replaced }) => kind === 'removed' || replaced !== 'no')).toEqual([]);
    const last = compareTemplates(both.template, alone.template).resources;
    expect(last.map(({ name, kind, replaced }) => [name, kind, replaced])).toEqual(
      functions.map((name) => [name, 'changed', 'no']),
    );
  });
});
