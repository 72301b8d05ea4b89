import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ConfigError } from '../../../lambda/settings/read.ts';
import { createIssueCommand, fallbackSettings, readKnownSettings } from '../../../operator/doctor/settings.ts';
import { testRows } from '../../support/test-rows.ts';

const defaults = {
  UPSTREAM_BASE_URL: 'https://api.acmecorp.net/v1',
  UPSTREAM_TEXT_MODEL: 'thunder-70b',
  UPSTREAM_VISION_MODEL: 'thunder-eyes',
};
const block = {
  defaults,
  stages: {
    dev: { GUEST_LIMIT: 5, UPSTREAM_DIALECTS: 'chat,messages' },
    prod: { UPSTREAM_NAMES: 'AcmeCorp', MEMBER_LIMIT: 80, KEEP_ALIVE_INTERVAL: 20, edge: true },
  },
};

test('without a stage, the names and limits of all stages are known', () => {
  expect(readKnownSettings(block)).toEqual({
    names: ['thunder-70b', 'thunder-eyes', 'api.acmecorp.net', 'AcmeCorp'],
    translated: ['responses'],
    memberLimits: [50, 80],
    guestLimits: [5, 3],
    closed: false,
    keepAlive: 20_000,
  });
});

test('with a stage, only its own are known', () => {
  const ofDev = { memberLimits: [50], guestLimits: [5], keepAlive: 15_000 };
  const names = ['thunder-70b', 'thunder-eyes', 'api.acmecorp.net'];
  expect(readKnownSettings(block, 'dev')).toEqual({ ...ofDev, names, translated: ['responses'], closed: false });
  expect(() => readKnownSettings(block, 'stage')).toThrow(ConfigError);
});

test('a stage with ACCESS=keys has no guests, and without a stage all must be closed', () => {
  const stages = { dev: {}, prod: { ACCESS: 'keys' } };
  expect(readKnownSettings({ defaults, stages }, 'prod')).toMatchObject({ guestLimits: [0], closed: true });
  expect(readKnownSettings({ defaults, stages })).toMatchObject({ guestLimits: [3, 0], closed: false });
});

test('the cdk.json of this repository has no names, as nobody has deployed it', () => {
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  expect(readKnownSettings(context.gateway)).toEqual(fallbackSettings);
});

const addresses = [
  ['http://127.0.0.1:8787', undefined, 'npm run keys -- issue --limit 7'],
  ['http://127.0.0.1:18931', 'dev', 'PORT=18931 npm run keys -- issue --limit 7'],
  ['http://localhost:9000', undefined, 'PORT=9000 npm run keys -- issue --limit 7'],
  ['http://[::1]:9000', undefined, 'PORT=9000 npm run keys -- issue --limit 7'],
  ['https://a.lambda-url.eu-central-1.on.aws', 'prod', 'npm run keys -- issue --limit 7 --stack InferenceGateway-prod'],
  ['https://api.example.com', undefined, 'npm run keys -- issue --limit 7 --stack NAME'],
] as const;
testRows(addresses)('the command that issues a key names the gateway’s port or stack', (base, stage, command) => {
  expect(createIssueCommand(base, stage)(7)).toBe(command);
});
