import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readAwsAccess } from '../../../lambda/aws/access.ts';
import { createAws } from '../../../lambda/aws/call-service.ts';
import type { ReadSecret } from '../../../lambda/settings/secrets.ts';
import { type FakeSecrets, startFakeSecrets } from '../../../local/fake-secrets.ts';

let secrets: FakeSecrets;
let read: ReadSecret;

beforeAll(async () => {
  secrets = await startFakeSecrets({ fresh: 'one', replaced: 'two', 'replaced (previous)': 'one' });
  const access = readAwsAccess({
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
  });
  read = createAws(access, { now: Date.now, random: Math.random }).readSecret;
});
afterAll(() => secrets.close());

test('reads a secret, and the version before it', async () => {
  expect(await read('replaced')).toBe('two');
  expect(await read('replaced', 'previous')).toBe('one');
});

test('a secret that was never replaced has an empty version before it', async () => {
  expect(await read('fresh')).toBe('one');
  expect(await read('fresh', 'previous')).toBe('');
});

test("a missing secret can't be read", async () => {
  await expect(read('missing')).rejects.toThrow('no such secret');
});
