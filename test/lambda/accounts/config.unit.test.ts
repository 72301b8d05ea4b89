import { expect, test } from '@jest/globals';
import { readAccountsConfig } from '../../../lambda/settings/config.ts';
import { ConfigError } from '../../../lambda/settings/read.ts';

const least = { KEYS_TABLE: 'keys', QUOTA_TABLE: 'quota', NETWORK_SALT: '0123456789abcdef' };

test('needs its tables and the salt, and no settings of an upstream', () => {
  expect(readAccountsConfig(least)).toMatchObject({ serviceName: 'svc', memberLimit: 50, appUrl: undefined });
});

test('reports every fault', () => {
  const faults = (environment: Record<string, string>) => {
    try {
      return readAccountsConfig(environment);
    } catch (error) {
      return error instanceof ConfigError ? error.faults : error;
    }
  };
  expect(faults({ APP_URL: 'app', EDGE_HEADER: 'x-viewer' })).toEqual([
    expect.stringMatching(/^APP_URL must be/),
    expect.stringMatching(/^KEYS_TABLE is missing/),
    expect.stringMatching(/^QUOTA_TABLE is missing/),
    expect.stringMatching(/^NETWORK_SALT_SECRET_ID is missing/),
    'EDGE_HEADER and EDGE_SECRET_ID belong together: set both or neither',
  ]);
});
