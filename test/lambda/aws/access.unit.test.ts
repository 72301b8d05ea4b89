import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import {
  dynamoDbService,
  endpointOf,
  readAwsAccess,
  renewCredentials,
  secretsManagerService,
} from '../../../lambda/aws/access.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { testRows } from '../../support/test-rows.ts';

const given = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
const endpoint = (service: typeof dynamoDbService, environment: Record<string, string>) =>
  endpointOf(service, readAwsAccess({ ...given, ...environment })).href;

describe('the address of a service', () => {
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

  test('is that of its own variable, else that for all services', () => {
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
  ])('stops the start if it is no http(s) URL', (variable, value) => {
    expect(() => endpoint(dynamoDbService, { [variable]: value })).toThrow(`${variable} must be an http(s) URL`);
  });
});

describe('the credentials that Lambda gives', () => {
  test('may include a session token', async () => {
    const ids = { accessKeyId: 'id', secretAccessKey: 'secret' };
    expect(await readAwsAccess(given).credentials()).toEqual(ids);
    const access = readAwsAccess({ ...given, AWS_SESSION_TOKEN: 'token' });
    expect([access.region, await access.credentials()]).toEqual(['eu-central-1', { ...ids, sessionToken: 'token' }]);
  });

  test('must be complete, or the missing part is named', () => {
    const missing = { AWS_REGION: '', AWS_SECRET_ACCESS_KEY: 'secret' };
    expect(() => readAwsAccess(missing)).toThrow(/^AWS_REGION is missing.*\nAWS_ACCESS_KEY_ID is missing.*$/);
  });
});

describe('credentials that expire', () => {
  const minute = 60_000;
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

  /** Credentials that hold for an hour each, given when the test says so. */
  function start() {
    const clock = { now: 0 };
    const asked: PromiseWithResolvers<void>[] = [];
    const provide = async () => {
      const number = asked.push(Promise.withResolvers());
      await asked[number - 1]?.promise;
      return { accessKeyId: `key-${number}`, secretAccessKey: 's', expiration: new Date(clock.now + 60 * minute) };
    };
    const renewed = renewCredentials(provide, () => clock.now);
    const read = async () => (await renewed()).accessKeyId;
    /** Reads for the first time, which is answered at once. */
    const readFirst = async () => {
      const first = read();
      asked[0]?.resolve();
      expect(await first).toBe('key-1');
    };
    return { clock, asked, read, readFirst };
  }

  test('requests wait for the first ones, all for the same', async () => {
    const { asked, read } = start();
    const both = Promise.all([read(), read()]);
    asked[0]?.resolve();
    expect(await both).toEqual(['key-1', 'key-1']);
    expect(asked).toHaveLength(1);
  });

  test('they are renewed before they expire, without delay for anybody', async () => {
    const { clock, asked, read, readFirst } = start();
    await readFirst();
    clock.now = 54 * minute;
    expect([await read(), asked.length]).toEqual(['key-1', 1]);
    clock.now = 56 * minute;
    expect([await read(), await read(), asked.length]).toEqual(['key-1', 'key-1', 2]);
    asked[1]?.resolve();
    await nextTurn();
    expect([await read(), asked.length]).toEqual(['key-2', 2]);
  });

  test('if that fails, the old ones serve while valid, and it is tried again', async () => {
    const { clock, asked, read, readFirst } = start();
    await readFirst();
    clock.now = 56 * minute;
    await read();
    asked[1]?.reject(new Error('planted'));
    await nextTurn();
    clock.now += 9_999;
    expect([await read(), asked.length]).toEqual(['key-1', 2]);
    clock.now += 1;
    expect([await read(), asked.length]).toEqual(['key-1', 3]);
    asked[2]?.reject(new Error('planted'));
    await nextTurn();
    clock.now = 60 * minute;
    const late = read().catch((error) => error);
    asked[3]?.reject(new Error('planted'));
    // As with an unreachable store, nobody passes; but no charge can have been written.
    expect(await late).toMatchObject({ code: 'service_unavailable', reason: undefined });
  });

  test('if whoever gives them hangs, requests don’t wait for long, and he is asked anew', async () => {
    using timers = stopTimers();
    const { clock, asked, read } = start();
    const outcome = read().catch((error: unknown) => error);
    timers.pass(2_000);
    expect(await outcome).toMatchObject({ code: 'service_unavailable', reason: undefined });
    clock.now += 2_000;
    const next = read();
    asked[1]?.resolve();
    expect([await next, asked.length]).toEqual(['key-2', 2]);
  });
});
