import { describe, expect, test } from '@jest/globals';
import type { DemoUpstream } from '../../local/demo/demo-upstream.ts';
import { awsVariables, gatewayVariables } from '../../local/local-settings.ts';

const endpoint = 'http://127.0.0.1:1';
const own = { AWS_ACCESS_KEY_ID: 'real', AWS_SECRET_ACCESS_KEY: 'real', AWS_PROFILE: 'work', AWS_REGION: 'eu-west-1' };

describe('credentials', () => {
  test("the operator's own stay away from the embedded store", () => {
    expect(awsVariables(own, endpoint, true)).toMatchObject({
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_PROFILE: undefined,
      AWS_SESSION_TOKEN: undefined,
      AWS_REGION: 'eu-west-1',
    });
  });

  test('an emulator without credentials gets some, and a region', () => {
    expect(awsVariables({}, endpoint, false)).toEqual({
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_REGION: 'us-east-1',
    });
  });

  test.each<[string, Record<string, string>, string, boolean]>([
    ['a real endpoint', own, 'https://dynamodb.eu-west-1.amazonaws.com', false],
    ['a real endpoint without any in sight', {}, 'https://dynamodb.eu-west-1.amazonaws.com', false],
    ['an emulator with a profile', { AWS_PROFILE: 'localstack' }, endpoint, false],
    ['the embedded store beside real secrets', { UPSTREAM_SECRET_ID: 'keys' }, endpoint, true],
  ])('nothing is changed for %s', (_name, environment, url, embedded) => {
    expect(awsVariables(environment, url, embedded)).toEqual({ AWS_ENDPOINT_URL_DYNAMODB: url });
  });

  test("the embedded store leaves the operator's own to Bedrock, whichever upstream that is", () => {
    for (const name of ['UPSTREAM_AUTH', 'UPSTREAM_2_AUTH']) {
      expect(awsVariables({ ...own, [name]: 'aws', AWS_REGION: 'eu-west-1' }, endpoint, true)).toEqual({
        AWS_ENDPOINT_URL_DYNAMODB: endpoint,
        AWS_REGION: 'eu-west-1',
      });
    }
  });

  test("an emulator's own are kept", () => {
    const given = { AWS_ACCESS_KEY_ID: '000000000001', AWS_SECRET_ACCESS_KEY: 'x' };
    const changes = awsVariables(given, endpoint, false);
    expect({ ...given, ...changes }).toMatchObject(given);
    const secrets = {
      UPSTREAM_SECRET_ID: 'keys',
      AWS_ENDPOINT_URL_SECRETS_MANAGER: 'http://127.0.0.1:2',
    };
    expect(awsVariables(secrets, endpoint, true)).toMatchObject({ AWS_ACCESS_KEY_ID: 'local' });
  });
});

describe('settings', () => {
  const demo: DemoUpstream = {
    url: 'http://127.0.0.1:3/v1',
    apiKey: 'demo-key',
    textModel: 'demo-text',
    visionModel: 'demo-vision',
    embeddingsModel: 'demo-embed',
    names: ['Maker'],
    close: async () => {},
  };

  test('are filled in where the operator has set none', () => {
    const given = { KEYS_TABLE: 'my-keys', NETWORK_SALT: ' ', UPSTREAM_TEXT_MODEL: 'mine' };
    const changes = gatewayVariables(given, undefined);
    expect(changes).toMatchObject({ KEYS_TABLE: 'my-keys', QUOTA_TABLE: 'gateway-quota' });
    expect(String(changes.NETWORK_SALT).length).toBeGreaterThanOrEqual(16);
    expect(changes).not.toHaveProperty('UPSTREAM_TEXT_MODEL');
  });

  test('are the demo’s if it answers, and its name is hidden in addition to the given ones', () => {
    const given = { UPSTREAM_TEXT_MODEL: 'mine', UPSTREAM_MESSAGES_BASE_URL: 'https://a/v1', UPSTREAM_NAMES: 'Other' };
    expect(gatewayVariables(given, demo)).toMatchObject({
      UPSTREAM_BASE_URL: demo.url,
      UPSTREAM_TEXT_MODEL: 'demo-text',
      UPSTREAM_MESSAGES_BASE_URL: undefined,
      UPSTREAM_NAMES: 'Maker,Other',
    });
  });

  test('are the demo’s for embeddings only where there are to be some', () => {
    const modelWith = (UPSTREAM_EMBEDDINGS_MODEL?: string) =>
      gatewayVariables({ UPSTREAM_EMBEDDINGS_MODEL }, demo).UPSTREAM_EMBEDDINGS_MODEL;
    expect([undefined, ' ', 'mine'].map(modelWith)).toEqual([undefined, undefined, 'demo-embed']);
  });
});
