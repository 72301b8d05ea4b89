import { expect, test } from '@jest/globals';
import { startWarnings } from '../../../lambda/serve.ts';
import { readConfig } from '../../../lambda/settings/config.ts';
import { warnOfOpenSpending } from '../../../lambda/settings/open-spending.ts';

const own = { KEYS_TABLE: 'keys', QUOTA_TABLE: 'quota', NETWORK_SALT: 'a-salt-of-a-test-gateway' };
const upstream = (url: string, prefix = 'UPSTREAM') => ({
  [`${prefix}_BASE_URL`]: url,
  [`${prefix}_TEXT_MODEL`]: 'words',
  [`${prefix}_VISION_MODEL`]: 'eyes',
});
const provider = 'https://api.acme.com/v1';
const paid = { ...upstream(provider), UPSTREAM_API_KEYS: 'k' };
const beside = { ...upstream('http://10.0.0.7:8000/v1'), UPSTREAM_API_KEYS: 'none' };
const PRICES = '{"svc": {"input": 1, "output": 1}, "svc-vision": {"input": 1, "output": 1}}';

test.each<[what: string, isWarned: boolean, environment: Record<string, string>]>([
  ['a provider with a key', true, paid],
  ['a provider whose key is in a secret', true, { ...upstream(provider), UPSTREAM_SECRET_ID: 'keys' }],
  [
    'Bedrock, called by the own role',
    true,
    { UPSTREAM_AUTH: 'aws', UPSTREAM_TEXT_MODEL: 'us.anthropic.claude-opus-5', AWS_REGION: 'us-east-1' },
  ],
  ['a limit for guests alone', true, { ...paid, GUEST_DAILY_LIMIT: '9' }],
  ['guests alone', true, { ...paid, WALLET_SIGN_IN: 'false' }],
  ['wallets alone', true, { ...paid, GUEST_LIMIT: '0' }],
  [
    'a provider beside a model server',
    true,
    { ...beside, ...upstream(provider, 'UPSTREAM_2'), UPSTREAM_2_API_KEYS: 'k' },
  ],
  ['a dialect at a provider', true, { ...beside, UPSTREAM_MESSAGES_BASE_URL: provider }],
  ['a limit for guests, where all are', false, { ...paid, WALLET_SIGN_IN: 'false', GUEST_DAILY_LIMIT: '9' }],
  ['neither guests nor wallets', false, { ...paid, WALLET_SIGN_IN: 'false', GUEST_LIMIT: '0' }],
  ['a limit a day', false, { ...paid, DAILY_LIMIT: '9' }],
  ['a limit in money', false, { ...paid, SPEND_LIMIT: '9', PRICES }],
  ['keys alone', false, { ...paid, ACCESS: 'keys' }],
  ['a self-hosted model server', false, beside],
  ['the demo', false, { ...upstream('http://127.0.0.1:1/v1'), UPSTREAM_API_KEYS: 'k' }],
  ['no key', false, upstream(provider)],
])('%s: warned of is %s', (_what, isWarned, environment) => {
  expect(warnOfOpenSpending(readConfig({ ...own, ...environment }))).toHaveLength(isWarned ? 1 : 0);
});

test('the start of a server says so too', () => {
  const environment = { ...own, ...paid };
  const config = readConfig(environment);
  expect(startWarnings(environment, config, false)).toEqual(warnOfOpenSpending(config));
});
