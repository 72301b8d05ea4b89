import { expect, test } from '@jest/globals';
import { ConfigError } from '../../lambda/config.ts';
import { settings } from '../../lambda/settings.ts';
import { readDeploymentConfig } from '../../lib/config.ts';

const block = {
  memorySize: 512,
  logRetentionDays: 30,
  UPSTREAM_BASE_URL: 'https://upstream.example/v1',
  UPSTREAM_TEXT_MODEL: 'text-model',
  UPSTREAM_VISION_MODEL: 'vision-model',
};

/** The faults of a block. */
function faults(given: unknown): readonly string[] {
  try {
    readDeploymentConfig(given);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

test('makes the environment of the block and of every fallback', () => {
  const { environment, ...rest } = readDeploymentConfig({ ...block, GUEST_LIMIT: 5, UPSTREAM_SIGNS_THINKING: true });
  expect(rest).toEqual({ memorySize: 512, logRetention: 30 });
  expect(environment).toMatchObject({
    UPSTREAM_BASE_URL: 'https://upstream.example/v1',
    GUEST_LIMIT: '5',
    UPSTREAM_SIGNS_THINKING: 'true',
    MEMBER_LIMIT: settings.MEMBER_LIMIT.fallback,
    CORS_ORIGINS: '*',
  });
  expect(Object.values(environment)).not.toContain('');
  expect(environment).not.toHaveProperty('KEYS_TABLE');
});

test('takes a blank for unset', () => {
  expect(readDeploymentConfig({ ...block, APP_URL: ' ' }).environment).not.toHaveProperty('APP_URL');
  expect(faults({ ...block, UPSTREAM_TEXT_MODEL: '' })).toEqual([
    expect.stringMatching(/^UPSTREAM_TEXT_MODEL is missing/),
  ]);
});

test('knows further upstreams', () => {
  const second = {
    UPSTREAM_2_BASE_URL: 'https://b.example/v1',
    UPSTREAM_2_TEXT_MODEL: 'b',
    UPSTREAM_2_VISION_MODEL: 'c',
  };
  expect(readDeploymentConfig({ ...block, ...second }).environment).toMatchObject(second);
});

test.each<[object, string]>([
  [{ GUEST_LIMIT: 'three' }, 'GUEST_LIMIT must be a whole number from 0 to 1000000'],
  [{ GUEST_LIMIT: [] }, 'GUEST_LIMIT must be text, a number, true or false'],
  [{ MODEL_ALIASES: 'gpt-*=other' }, 'MODEL_ALIASES maps gpt- to other, which must be svc or svc-vision'],
  [{ GUEST_LIMITS: 3 }, 'GUEST_LIMITS is no known setting'],
  [{ UPSTREAM_2_HOST: 'x' }, 'UPSTREAM_2_HOST is no known setting'],
  [{ UPSTREAM_1_BASE_URL: 'https://a.example/v1' }, 'UPSTREAM_1_BASE_URL is no known setting'],
  [{ KEYS_TABLE: 'mine' }, 'KEYS_TABLE is set by the stack'],
  [{ UPSTREAM_API_KEYS: 'k' }, 'UPSTREAM_API_KEYS belongs in a secret, not in a template'],
  [{ UPSTREAM_2_API_KEYS: 'k' }, 'UPSTREAM_2_API_KEYS belongs in a secret, not in a template'],
  [{ NETWORK_SALT: 'a salt that is long enough' }, 'NETWORK_SALT belongs in a secret, not in a template'],
  [{ memorySize: 64 }, 'memorySize must be a whole number of megabytes from 128 to 10240'],
  [{ memorySize: '512' }, 'memorySize must be a whole number of megabytes from 128 to 10240'],
  [
    { logRetentionDays: 31 },
    'logRetentionDays must be a number of days that CloudWatch Logs offers, such as 7, 30 or 365',
  ],
])('refuses %j', (wrong, fault) => {
  expect(faults({ ...block, ...wrong })).toContain(fault);
});

test('reports every fault once', () => {
  expect(faults({ ...block, memorySize: 1, GUEST_LIMIT: -1, NAME: 'x', UPSTREAM_2_HOST: 'x' })).toHaveLength(4);
});

test.each([undefined, null, 'text', [[]]])('needs a block: %j', (given) => {
  expect(faults(given)).toEqual(['must be an object']);
});
