import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { addParts, removePart } from '../../../operator/upstream-key/members.ts';
import { createStackSecret } from '../../../operator/upstream-key/stack-secret.ts';
import { startVersionedSecret } from '../../support/versioned-secret.ts';

const first = 'UPSTREAM_API_KEYS';
let secret: Awaited<ReturnType<typeof startVersionedSecret>>;
let client: SecretsManagerClient;
const store = (id = 'upstream') => createStackSecret(client, id);
const add = (key: string, id?: string) => store(id).edit((members) => addParts(members, first, key));
const current = () => JSON.parse(secret.current() ?? '');

beforeEach(async () => {
  secret = await startVersionedSecret('upstream', JSON.stringify({ [first]: 'sk-a', UPSTREAM_2_API_KEYS: 'sk-c' }));
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  client = new SecretsManagerClient({ endpoint: secret.url, region: 'eu-west-3', credentials });
});
afterEach(async () => {
  client.destroy();
  await secret[Symbol.asyncDispose]();
});

test('a change is a new version, made current in place of the one that it was made from', async () => {
  const before = secret.current();
  await add('sk-b');
  expect(current()).toEqual({ [first]: 'sk-a,sk-b', UPSTREAM_2_API_KEYS: 'sk-c' });
  expect(secret.previous()).toBe(before);
  expect(secret.operations).toEqual(['GetSecretValue', 'PutSecretValue', 'UpdateSecretVersionStage']);
});

test('what is there already writes nothing', async () => {
  await add('sk-a');
  expect(secret.operations).toEqual(['GetSecretValue']);
});

test('of changes at the same time none is lost', async () => {
  const keys = ['sk-1', 'sk-2', 'sk-3', 'sk-4'];
  const removal = store().edit((members) => removePart(members, 'UPSTREAM_2_API_KEYS', undefined));
  await Promise.all([...keys.map((key) => add(key)), removal]);
  expect(Object.keys(current())).toEqual([first]);
  expect(current()[first].split(',').sort()).toEqual([...keys, 'sk-a']);
});

test('what somebody writes by hand meanwhile stays', async () => {
  secret.hooks.set('UpdateSecretVersionStage', () => {
    secret.hooks.clear();
    secret.putByHand(JSON.stringify({ [first]: 'sk-by-hand' }));
    return undefined;
  });
  await add('sk-b');
  expect(current()).toEqual({ [first]: 'sk-by-hand,sk-b' });
});

test('while others keep changing it, it gives up, and what they wrote stays', async () => {
  secret.hooks.set('UpdateSecretVersionStage', () => {
    secret.putByHand(JSON.stringify({ [first]: `sk-${secret.operations.length}` }));
    return undefined;
  });
  await expect(add('sk-b')).rejects.toThrow(
    /^others keep changing the secret at the same time, so nothing was changed/,
  );
  expect(current()[first]).not.toContain('sk-b');
});

test('a move whose answer was lost counts once', async () => {
  secret.hooks.set('UpdateSecretVersionStage', (input) => {
    secret.hooks.clear();
    secret.carryOut.UpdateSecretVersionStage(input);
    return [500, { __type: 'InternalServiceError' }];
  });
  await add('sk-b');
  expect(current()[first]).toBe('sk-a,sk-b');
  expect(secret.operations.filter((operation) => operation === 'PutSecretValue')).toHaveLength(1);
});

test('a refusal is told with what to do, and never with a key that it quotes', async () => {
  await expect(add('sk-b', 'another')).rejects.toThrow(/^ResourceNotFoundException: Secrets Manager can't find/);
  const message = 'User: arn:aws:iam::1:user/ada is not authorized to perform: secretsmanager:PutSecretValue';
  secret.hooks.set('PutSecretValue', () => [400, { __type: 'AccessDeniedException', Message: message }]);
  const denied = `AccessDeniedException: ${message} (docs/policies/upstream-key.json allows what this takes)`;
  await expect(add('sk-b')).rejects.toThrow(denied);
  secret.hooks.set('PutSecretValue', ({ SecretString }) => [
    ...([400, { __type: 'ValidationException', Message: `Value '${SecretString}' is too long` }] as const),
  ]);
  const quoting = await add('sk-quoted').catch((error) => error);
  expect(quoting.message).toBe('ValidationException');
  await expect(add('k'.repeat(70_000))).rejects.toThrow('a secret holds 65536 bytes at most');
});
