import { expect, test } from '@jest/globals';
import { createNameFinder, findForeignHeader, findTrace } from '../../../operator/doctor/hiding.ts';
import type { Reply } from '../../../operator/doctor/probe.ts';
import { testRows } from '../../support/test-rows.ts';

const findName = createNameFinder(['AcmeCorp', 'acmecorp/thunder-70b', 'glm']);

function reply(text: string, headers: Record<string, string> = {}): Reply {
  const all = new Headers({ 'content-type': 'application/json', ...headers });
  return { title: 'GET /', status: 200, headers: all, text, sentAt: 0, arrivals: [] };
}
const stream = (...data: readonly object[]) =>
  reply(data.map((value) => `data: ${JSON.stringify(value)}\n\n`).join(''), { 'content-type': 'text/event-stream' });
const comment = (text: string) => reply(`: ${text}\n\n`, { 'content-type': 'text/event-stream' });

const traces: [string, Reply, string][] = [
  ['in a text', reply('{"a":{"b":["by ACMECORP"]}}'), 'a.b.0 has ACMECORP'],
  ['behind escapes', reply('{"a":"\\u0041cmecorp"}'), 'a has Acmecorp'],
  ['in a key', reply('{"acmecorp_id":1}'), 'a key: acmecorp_id has acmecorp'],
  ['in a page', reply('<h1>AcmeCorp</h1>'), 'the body has AcmeCorp'],
  ['as a short word', reply('{"a":"the glm model"}'), 'a has glm'],
  ['cut over chunks', stream({ d: 'I am Ac', i: 1 }, { d: 'meCo' }, { d: 'rp' }), 'd has AcmeCorp'],
  ['in a header', reply('{}', { 'x-request-id': 'acmecorp-1' }), 'x-request-id: acmecorp-1'],
  ['in a comment', comment('ACMECORP'), 'a comment:  ACMECORP has ACMECORP'],
];
testRows(traces)('a name is found wherever it stands', (_where, given, place) => {
  expect(findName(given)).toBe(place);
});

const innocent: [string, Reply][] = [
  ['a word that only holds a short name', reply('{"a":"eglman"}')],
  ['what a program reads back', reply('{"tool":{"arguments":"{\\"by\\":\\"AcmeCorp\\"}"},"signature":"AcmeCorp"}')],
  ['what is within it', reply('{"arguments":{"acmecorp":[{"by":"AcmeCorp"}]}}')],
  ['a random id that holds a short name', reply('{}', { 'x-request-id': 'req_7glm7' })],
  ['headers that a page asked for', reply('{}', { 'access-control-allow-headers': 'acmecorp' })],
];
testRows(innocent)('what only looks like a name, or is not the gateway’s own, is no trace', (_what, given) => {
  expect(findName(given)).toBeUndefined();
});

const inBodies: [string, Reply, string | undefined][] = [
  ['a public model', stream({ response: { model: 'svc' } }, { model: 'svc-vision' }), undefined],
  ['a keep-alive', comment('keep-alive'), undefined],
  ['a comment', comment('OTHERS PROCESSING'), 'a comment says OTHERS PROCESSING'],
  ['a field', stream({ a: 1 }, { choices: [{ provider: 'x' }] }), 'choices.0.provider is there'],
  ['a fingerprint', reply('{"system_fingerprint":"fp_1"}'), 'system_fingerprint is there'],
  ['what it cost the gateway', reply('{"usage":{"cost":0.1}}'), 'usage.cost is there'],
  ['another model', stream({ message: { model: 'other-70b' } }), 'message.model is other-70b'],
  ['a stack trace', { ...reply('{"a":"at f (/var/x.mjs:1:2)"}'), status: 500 }, 'a stack trace: at f (/var/x.mjs:1:2'],
];
testRows(inBodies)('a body shows who answered by a field, a comment, a model or a stack trace', (_by, given, trace) => {
  expect(findTrace(given, ['svc', 'svc-vision'])).toBe(trace);
});

const findForeign = (headers: Record<string, string>) => findForeignHeader(reply('', headers), 'x-svc-');

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
  expect(findForeign({ ...gateways, ...lambdas, ...webFunctions, ...cloudFronts })).toBeUndefined();
});

const foreign = [
  ['via', '1.1 vegur'],
  ['via', '1.1 0a1b2c3d.cloudfront.net (CloudFront), 1.1 google'],
  ['server', 'uvicorn'],
  ['set-cookie', '__cf_bm=1'],
  ['cf-ray', '8f1-FRA'],
  ['openai-processing-ms', '12'],
  ['x-amzn-bedrock-output-token-count', '5'],
  ['x-amzn-remapped-server', 'uvicorn'],
  ['x-amz-apigw-id', 'a'],
  ['x-ratelimit-remaining-tokens', '5'],
  ['x-svc-region', 'eu'],
  ['x-svc-upstream', 'x'],
  ['openrouter-generation', 'a'],
] as const;
testRows(foreign)('anything else is foreign', (name, value) => {
  expect(findForeign({ [name]: value })).toBe(`${name}: ${value}`);
});
