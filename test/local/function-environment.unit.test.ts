import { describe, expect, test } from '@jest/globals';
import type { DemoUpstream } from '../../local/demo/demo-upstream.ts';
import { awsVariables, gatewayVariables } from '../../local/local-settings.ts';

const endpoint = 'http://127.0.0.1:1';
const own = { AWS_ACCESS_KEY_ID: 'real', AWS_SECRET_ACCESS_KEY: 'real', AWS_PROFILE: 'work', AWS_REGION: 'eu-west-1' };

describe('credentials', () => {
  test('an emulator without credentials gets some, and a region', () => {
    const some = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local', AWS_REGION: 'us-east-1' };
    expect(awsVariables({ AWS_ENDPOINT_URL_DYNAMODB: endpoint }, true)).toEqual(some);
    const secrets = { UPSTREAM_SECRET_ID: 'keys', AWS_ENDPOINT_URL_SECRETS_MANAGER: 'http://127.0.0.1:2' };
    expect(awsVariables(secrets, false)).toEqual(some);
  });

  test.each<[string, Record<string, string>, boolean]>([
    ['a real endpoint', { ...own, AWS_ENDPOINT_URL_DYNAMODB: 'https://dynamodb.eu-west-1.amazonaws.com' }, true],
    ['AWS itself', {}, true],
    ['an emulator with a profile', { AWS_PROFILE: 'localstack', AWS_ENDPOINT_URL_DYNAMODB: endpoint }, true],
    ['an emulator beside real secrets', { UPSTREAM_SECRET_ID: 'keys', AWS_ENDPOINT_URL_DYNAMODB: endpoint }, true],
    ['a folder', own, false],
  ])('nothing is changed for %s', (_name, environment, usesTables) => {
    expect(awsVariables(environment, usesTables)).toEqual({});
  });

  test("the operator's own are left to Bedrock, whichever upstream that is", () => {
    for (const name of ['UPSTREAM_AUTH', 'UPSTREAM_2_AUTH']) {
      const given = { AWS_ENDPOINT_URL_DYNAMODB: endpoint, [name]: 'aws', AWS_REGION: 'eu-west-1' };
      expect(awsVariables(given, true)).toEqual({ AWS_REGION: 'eu-west-1' });
      expect(awsVariables({ [name]: 'aws' }, false)).toEqual({ AWS_REGION: 'us-east-1' });
    }
  });

  test("an emulator's own are kept", () => {
    const given = {
      AWS_ACCESS_KEY_ID: '000000000001',
      AWS_SECRET_ACCESS_KEY: 'x',
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    };
    expect(awsVariables(given, true)).toEqual({ AWS_REGION: 'us-east-1' });
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
    const changes = gatewayVariables({ NETWORK_SALT: ' ', UPSTREAM_TEXT_MODEL: 'mine' }, undefined);
    expect(String(changes.NETWORK_SALT).length).toBeGreaterThanOrEqual(16);
    expect(changes).not.toHaveProperty('UPSTREAM_TEXT_MODEL');
  });

  test('name tables only where one is named, or another DynamoDB', () => {
    expect(gatewayVariables({ DATA_DIR: 'data' }, undefined)).not.toHaveProperty('KEYS_TABLE');
    const named = { KEYS_TABLE: 'my-keys', QUOTA_TABLE: 'gateway-quota' };
    expect(gatewayVariables({ KEYS_TABLE: 'my-keys' }, undefined)).toMatchObject(named);
    const ofEndpoint = { KEYS_TABLE: 'gateway-keys', QUOTA_TABLE: 'gateway-quota' };
    const ofBoth = { AWS_ENDPOINT_URL_DYNAMODB: endpoint, DATA_DIR: 'data' };
    expect(gatewayVariables(ofBoth, undefined)).toMatchObject({ ...ofEndpoint, DATA_DIR: undefined });
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
