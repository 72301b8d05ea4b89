import { expect, jest, test } from '@jest/globals';
import { startFakeBedrock } from '../support/fake-bedrock.ts';
import { spawnGateway, startGatewayProcess } from './gateway-process.ts';

jest.setTimeout(60_000);

const model = 'us.anthropic.claude-sonnet-5';
const credentials = { accessKeyId: 'OWN', secretAccessKey: 'the secret of OWN', sessionToken: 'session+of/own=' };
const settings = { UPSTREAM_AUTH: 'aws', UPSTREAM_TEXT_MODEL: model, AWS_REGION: 'us-east-1' };
const signedIn = {
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  AWS_SESSION_TOKEN: credentials.sessionToken,
};

test.each(['function-url', 'web'])('npm start calls Bedrock with the own credentials (ENGINE=%s)', async (ENGINE) => {
  await using bedrock = await startFakeBedrock({
    region: 'us-east-1',
    roles: [{ credentials, models: [model] }],
    now: Date.now,
  });
  await using gateway = await startGatewayProcess({
    ...{ ...settings, ...signedIn, ENGINE },
    UPSTREAM_BASE_URL: `${bedrock.origin}/anthropic/v1`,
  });
  expect(gateway.errors()).toMatch(
    /^UPSTREAM_AUTH aws took UPSTREAM_DIALECTS=messages, UPSTREAM_OUTPUT_LIMIT=32000, UPSTREAM_SIGNS_THINKING=true$/m,
  );
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Hello')]);
  expect(gateway.output() + gateway.errors()).not.toMatch(/bedrock-api-key-|the secret of|session\+of/);
});

test('a model alone is a real upstream, at the address of the region', async () => {
  await using gateway = await startGatewayProcess({ ...settings, ...signedIn });
  expect(gateway.output()).toMatch(/^upstream {2}bedrock-runtime\.us-east-1\.amazonaws\.com$/m);
});

test('whoever is not signed in is told at the start how to be', async () => {
  const nowhere = { AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nonexistent' };
  await using gateway = spawnGateway({ ...settings, ...nowhere });
  expect(await gateway.ended).toBe(1);
  expect(gateway.errors()).toMatch(/^UPSTREAM_AUTH aws finds no AWS credentials \(.*aws configure export-credentials/);
  expect(gateway.output()).toBe('');
});

test('so is whoever was signed in until a moment ago', async () => {
  const ended = { AWS_CREDENTIAL_EXPIRATION: '2026-01-01T00:00:00Z' };
  await using gateway = spawnGateway({ ...settings, ...signedIn, ...ended });
  expect(await gateway.ended).toBe(1);
  expect(gateway.errors()).toMatch(
    /^UPSTREAM_AUTH aws finds no AWS credentials \(the AWS credentials have expired\): sign in/m,
  );
});
