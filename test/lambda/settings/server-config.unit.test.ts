import { expect, test } from '@jest/globals';
import { readServerConfig } from '../../../lambda/settings/config.ts';
import { testRows } from '../../support/test-rows.ts';

test('on a host, callers are whoever holds the connection', () => {
  expect(readServerConfig({})).toEqual({
    ...{ host: '127.0.0.1', port: 8787, clientAddress: 'socket', scheme: 'http' },
    ...{ bodyBudget: 256 * 1_048_576, shutdownGrace: 300, servesWallet: true },
  });
  expect(readServerConfig({ HOST: '::', PORT: '80', CLIENT_ADDRESS: 'x-forwarded-for' })).toMatchObject({
    ...{ host: '::', port: 80, clientAddress: 'x-forwarded-for', scheme: 'http' },
  });
});

testRows([
  ['127.0.0.1:8080', '127.0.0.1', 8080],
  ['[::1]:8080', '::1', 8080],
  ['localhost:65535', 'localhost', 65535],
])('in Lambda it listens there, and nowhere else', (endpoint, host, port) => {
  const config = readServerConfig({ AWS_LAMBDA_HTTP_ENDPOINT: endpoint, HOST: '0.0.0.0', PORT: '1' });
  expect(config).toMatchObject({ host, port, clientAddress: 'x-forwarded-for', scheme: 'https', servesWallet: false });
});

test('every fault is reported', () => {
  const wrong = { PORT: '-1', SHUTDOWN_GRACE: 'soon', AWS_LAMBDA_HTTP_ENDPOINT: '8080' };
  expect(() => readServerConfig(wrong)).toThrow(
    [
      'PORT must be a whole number from 0 to 65535, 0 for any free port',
      'AWS_LAMBDA_HTTP_ENDPOINT must be a host and a port, such as 127.0.0.1:8080',
      'SHUTDOWN_GRACE must be a number of seconds from 0 to 600, fractions allowed',
    ].join('\n'),
  );
});
