import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import {
  cacheCredentials,
  dynamoDbService,
  endpointOf,
  readAwsAccess,
  secretsManagerService,
} from '../../../lambda/aws/access.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { testRows } from '../../support/test-rows.ts';

const given = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
const endpoint = (service: typeof dynamoDbService, environment: Record<string, string>) =>
  endpointOf(service, readAwsAccess({ ...given, ...environment })).href;

describe('the endpoint of a service', () => {
  testRows(['us-east-1', 'eu-central-1', 'us-gov-west-1', 'cn-north-1', 'cn-northwest-1', 'eusc-de-east-1'])(
    'where the SDK finds it',
    (region) => {
      const rules = { Region: region, UseDualStack: false, UseFIPS: false };
      const { url } = new DynamoDBClient().config.endpointProvider(rules);
      expect(endpoint(dynamoDbService, { AWS_REGION: region })).toBe(url.href);
      const other = endpoint(secretsManagerService, { AWS_REGION: region });
      expect(other).toBe(url.href.replace('dynamodb', 'secretsmanager'));
    },
  );

  test('is its own override, or else the one for all services', () => {
    const all = { AWS_ENDPOINT_URL: 'http://127.0.0.1:4566' };
    const one = { AWS_ENDPOINT_URL_DYNAMODB: 'https://store.example:8443/below' };
    expect(endpoint(dynamoDbService, { ...all, ...one })).toBe('https://store.example:8443/below');
    expect(endpoint(secretsManagerService, { ...all, ...one })).toBe('http://127.0.0.1:4566/');
    const secrets = { AWS_ENDPOINT_URL_SECRETS_MANAGER: 'http://[::1]:5000' };
    expect(endpoint(secretsManagerService, { ...all, ...secrets })).toBe('http://[::1]:5000/');
    expect(endpoint(dynamoDbService, secrets)).toBe('https://dynamodb.eu-central-1.amazonaws.com/');
  });

  testRows([
    ['AWS_ENDPOINT_URL_DYNAMODB', 'ftp://store.example'],
    ['AWS_ENDPOINT_URL', 'store.example'],
  ])('prevents the start if it is not an http(s) URL', (variable, value) => {
    expect(() => endpoint(dynamoDbService, { [variable]: value })).toThrow(`${variable} must be an http(s) URL`);
  });
});

const ids = { accessKeyId: 'id', secretAccessKey: 'secret' };

describe('the credentials that Lambda gives', () => {
  test('may include a session token', async () => {
    expect(await readAwsAccess(given).credentials()).toEqual(ids);
    const access = readAwsAccess({ ...given, AWS_SESSION_TOKEN: 'token' });
    expect([access.region, await access.credentials()]).toEqual(['eu-central-1', { ...ids, sessionToken: 'token' }]);
  });

  test('must be complete, or the missing part is named', () => {
    const missing = { AWS_REGION: '', AWS_SECRET_ACCESS_KEY: 'secret' };
    expect(() => readAwsAccess(missing)).toThrow(/^AWS_REGION is missing.*\nAWS_ACCESS_KEY_ID is missing.*$/);
  });
});

describe('credentials of a long-running process', () => {
  test('are never used once they have expired, even if the background refresh fails', async () => {
    const clock = { now: 0 };
    const given = [60_000, 120_000].map((end) => ({ ...ids, accessKeyId: `until-${end}`, expiration: new Date(end) }));
    let failing = false;
    const provide = async () => {
      if (failing) throw new Error('planted');
      return given.find(({ expiration }) => expiration.getTime() > clock.now) ?? ids;
    };
    const read = cacheCredentials(provide, { now: () => clock.now, runEvery: () => {} });
    expect(await read()).toMatchObject({ accessKeyId: 'until-60000' });
    clock.now = 60_000;
    expect(await read()).toMatchObject({ accessKeyId: 'until-120000' });
    failing = true;
    await expect(read()).rejects.toMatchObject({ code: 'service_unavailable' });
  });

  test('time out if the provider hangs, and are requested again', async () => {
    using timers = stopTimers();
    const clock = { now: 0 };
    let asked = 0;
    const provide = async () => (++asked > 1 ? ids : new Promise<never>(() => {}));
    const read = cacheCredentials(provide, { now: () => clock.now, runEvery: () => {} });
    const outcome = Promise.all([read(), read()]).catch((error: unknown) => error);
    timers.pass(2_000);
    // Like an unreachable store, except that no charge can have been written.
    expect(await outcome).toMatchObject({ code: 'service_unavailable', reason: undefined });
    expect(asked).toBe(1);
    clock.now += 2_000;
    expect(await read()).toBe(ids);
  });
});
