import { expect, test } from '@jest/globals';
import { findForeignHeader } from '../../../operator/doctor/judge-headers.ts';
import type { Reply } from '../../../operator/doctor/probe.ts';

function find(headers: Record<string, string>): string | undefined {
  const ask = { method: 'GET', path: '/' } as const;
  const reply: Reply = {
    ask,
    title: '',
    status: 200,
    headers: new Headers(headers),
    text: '',
    arrivals: [],
    duration: 0,
  };
  return findForeignHeader(reply, 'x-svc-');
}

test('headers of the gateway, Lambda and CloudFront are not foreign', () => {
  const gateways = {
    'X-Svc-Remaining': '1',
    'X-Svc-Limit': '3',
    'X-Svc-Reset': '9',
    'X-Svc-Error': 'not_found',
    vary: 'origin',
  };
  const lambdas = { date: 'now', connection: 'keep-alive', 'x-amzn-RequestId': 'a', 'X-Amzn-Trace-Id': 'Root=1' };
  const webFunctions = { 'lambda-web-request-id': 'a', 'lambda-web-endpoint-name': 'gateway' };
  const cloudFronts = {
    ...{ via: '1.1 0a1b2c3d.cloudfront.net (CloudFront)', server: 'CloudFront', 'x-cache': 'Miss from cloudfront' },
    ...{ 'x-amz-cf-pop': 'FRA60-P1', 'x-amz-cf-id': 'a', 'alt-svc': 'h3=":443"', age: '1' },
  };
  expect(find({ ...gateways, ...lambdas, ...webFunctions, ...cloudFronts })).toBeUndefined();
});

test.each([
  ['via', '1.1 vegur'],
  ['via', '1.1 0a1b2c3d.cloudfront.net (CloudFront), 1.1 google'],
  ['server', 'nginx'],
  ['x-amzn-bedrock-output-token-count', '5'],
  ['x-amzn-remapped-server', 'uvicorn'],
  ['x-amz-apigw-id', 'a'],
  ['x-svc-region', 'eu'],
  ['openrouter-generation', 'a'],
])('%s: %s is foreign', (name, value) => {
  expect(find({ [name]: value })).toBe(`${name}: ${value}`);
});
