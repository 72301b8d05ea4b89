import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { findAws } from '../../local/find-aws.ts';
import { answer, startFakeService } from '../support/fake-service.ts';

const before = { ...process.env };
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-test-'));
});
afterEach(() => {
  process.env = { ...before };
  rmSync(folder, { recursive: true });
});

test('a profile is used by the small client as it is by the SDK', async () => {
  await using service = await startFakeService(answer(200, { SecretString: 'the salt' }));
  const [config, credentials] = [join(folder, 'config'), join(folder, 'credentials')];
  writeFileSync(config, '[profile work]\nregion = eu-west-3\n');
  writeFileSync(credentials, '[work]\naws_access_key_id = OFTHEPROFILE\naws_secret_access_key = secret\n');
  const { AWS_REGION: _, AWS_ACCESS_KEY_ID: __, AWS_SECRET_ACCESS_KEY: ___, ...rest } = before;
  process.env = {
    ...rest,
    AWS_PROFILE: 'work',
    AWS_CONFIG_FILE: config,
    AWS_SHARED_CREDENTIALS_FILE: credentials,
    AWS_ENDPOINT_URL: service.url,
  };
  const client = new DynamoDBClient();
  const { callDynamoDb, readSecret } = await findAws(client);
  client.destroy();
  await callDynamoDb('GetItem', {});
  expect(await readSecret('salt')).toBe('the salt');
  const scopes = service.requests.map(({ headers }) =>
    /Credential=(\w+\/)\d+(\/[^,]+)/.exec(headers.authorization ?? '')?.slice(1),
  );
  expect(scopes).toEqual([
    ['OFTHEPROFILE/', '/eu-west-3/dynamodb/aws4_request'],
    ['OFTHEPROFILE/', '/eu-west-3/secretsmanager/aws4_request'],
  ]);
});
