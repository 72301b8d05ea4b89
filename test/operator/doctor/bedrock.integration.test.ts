import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Credentials } from '../../../lambda/aws/access.ts';
import { createReadToken } from '../../../lambda/aws/bedrock-token.ts';
import { readUpstreams } from '../../../lambda/settings/read-upstreams.ts';
import { checkBedrock } from '../../../operator/doctor/bedrock.ts';
import type { Checked } from '../../../operator/doctor/report.ts';
import type { Run } from '../../../operator/doctor/run.ts';
import { now } from '../../support/clock.ts';
import { type Refusal, startFakeBedrock } from '../../support/fake-bedrock.ts';

const claude = 'us.anthropic.claude-sonnet-5';
const own: Credentials = { accessKeyId: 'OPERATOR', secretAccessKey: 'secret' };
const stranger: Credentials = { accessKeyId: 'STRANGER', secretAccessKey: 'secret' };

let bedrock: Awaited<ReturnType<typeof startFakeBedrock>>;
beforeAll(async () => {
  bedrock = await startFakeBedrock({ region: 'us-east-1', roles: [{ credentials: own, models: [claude] }], now });
});
afterAll(() => bedrock[Symbol.asyncDispose]());

interface Options {
  readonly model?: string;
  readonly status?: number;
  readonly region?: string;
  readonly credentials?: Credentials | Error;
  readonly address?: string;
}

/** What the doctor says of a stage with this model, after the gateway has answered with this status. */
async function diagnose({ model = claude, status = 502, region = 'us-east-1', ...options }: Options = {}) {
  const { credentials = own, address = `${bedrock.origin}/anthropic/v1` } = options;
  const settings = { UPSTREAM_AUTH: 'aws', UPSTREAM_TEXT_MODEL: model, UPSTREAM_BASE_URL: address, AWS_REGION: region };
  const replies = [{ status }] as unknown as Run['replies'];
  const provide = async () => {
    if (credentials instanceof Error) throw credentials;
    return credentials;
  };
  const openAws = async () => createReadToken(provide, now);
  const found: Checked[] = [];
  for await (const one of checkBedrock({ replies, bedrock: readUpstreams(settings, false, []), openAws }))
    found.push(one);
  return found.map(([check, { mark, detail }]) => [check, mark, detail]);
}

test.each<[what: string, options: Options, refusals: Refusal[], detail: RegExp]>([
  ['the role lacks the right', {}, [], /^Bedrock answers you, so the gateway’s role lacks a permission/],
  [
    'the account has no access',
    {},
    ['noAccess'],
    /^this account has no access to us\.anthropic\.claude-sonnet-5: .*console/,
  ],
  ['nobody has subscribed to the model', {}, ['noSubscription'], /^this account has no access to/],
  ['the form for Claude is missing', {}, ['noForm'], /^this account has no access to/],
  [
    'the endpoint knows no such model',
    { model: 'us.anthropic.clade-5' },
    [],
    /^this endpoint has no model us\.anthropic\.clade-5 in us-east-1/,
  ],
  ['the model needs a profile', {}, ['profileOnly'], /can be called only through an inference profile/],
  ['the region is another', { region: 'eu-west-1' }, [], /^Bedrock in eu-west-1 does not accept the token/],
  [
    'the credentials are nobody’s',
    { credentials: stranger },
    [],
    /^Bedrock in us-east-1 does not accept the token: sign in/,
  ],
  ['a token is too old', {}, ['expired'], /does not accept the token: sign in to AWS again, and check the clock/],
  [
    'the operator lacks the right too',
    {},
    ['noRight'],
    /^your own credentials lack this permission.*\(403 .*bedrock:InvokeModel on/,
  ],
])('where %s, it says so with the cure', async (_what, options, refusals, detail) => {
  bedrock.next.push(...refusals);
  expect(await diagnose(options)).toEqual([
    [`asked for ${options.model ?? claude}`, 'fail', expect.stringMatching(detail)],
  ]);
});

test('a region without Bedrock has no such host', async () => {
  const found = await diagnose({ address: 'http://bedrock-runtime.invalid/v1', region: 'us-north-9' });
  expect(found).toEqual([
    [
      expect.anything(),
      'fail',
      expect.stringMatching(/^bedrock-runtime\.invalid is not found\. .*no Bedrock in us-north-9/),
    ],
  ]);
});

test.each<[what: string, options: Options, detail: RegExp]>([
  ['nobody is signed in', { credentials: new Error('no credentials') }, /^not tested: no credentials: sign in to AWS/],
  ['no region is set', { region: 'REGION' }, /^not tested: set AWS_REGION/],
])('where %s, it says that it does not know', async (_what, options, detail) => {
  expect(await diagnose(options)).toEqual([[expect.anything(), 'untested', expect.stringMatching(detail)]]);
});

test('Bedrock is asked only if the gateway got no answer from it', async () => {
  const before = bedrock.seen.length;
  expect(await diagnose({ status: 200 })).toEqual([]);
  expect(bedrock.seen).toHaveLength(before);
});
