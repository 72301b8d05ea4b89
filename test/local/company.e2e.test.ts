import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { findFreePort } from '../support/find-free-port.ts';
import { signInOn } from '../support/identity-provider.ts';
import { spawnGateway } from './gateway-process.ts';

test('with DEMO_OIDC one made-up person signs in and gets a key, another is kept out, and the provider stops with it', async () => {
  const PORT = String(await findFreePort());
  await using gateway = spawnGateway({ DEMO_OIDC: 'true', PORT });
  await gateway.says(/listening on /);
  const base = `http://127.0.0.1:${PORT}`;
  expect(gateway.output()).toContain(
    `made up; at ${base}/cli \`ada\` can sign in and \`mallory\` is kept out, with any password`,
  );

  const ada = await signInOn(base, 'ada');
  expect([ada.status, ada.body]).toEqual([200, expect.objectContaining({ person: expect.anything() })]);
  expect(ada.back).toMatch(new RegExp(`^${base}/cli/oidc/callback\\?`));
  const { token } = (ada.body as { session: { token: string } }).session;
  const headers = { 'content-type': 'application/json', origin: base, authorization: `Bearer ${token}` };
  const issued = await fetch(`${base}/cli/keys/issue`, { method: 'POST', headers, body: '{}' });
  const { key } = (await issued.json()) as { key: { key: string; id: string } };
  expect((await fetch(`${base}/v1/models`, { headers: { 'x-api-key': key.key } })).status).toBe(200);
  const revoking = { method: 'POST', headers, body: JSON.stringify({ id: key.id }) };
  expect((await fetch(`${base}/cli/keys/revoke`, revoking)).status).toBe(200);
  // The same lines as in a deployment's log of the pages.
  for (const message of ['granted', 'revoked']) {
    await gateway.says(new RegExp(`"message":"${message}","requestId":"req_\\w+",.*"keyId":"${key.id}"`));
  }
  expect(await signInOn(base, 'mallory')).toMatchObject({ status: 403, body: { error: { code: 'not_allowed' } } });

  // The operator's command knows where terminals sign in.
  const command = [join(import.meta.dirname, '../../bin/keys.ts'), 'setup', 'opencode'];
  const { stdout } = await promisify(execFile)(process.execPath, command, { env: { ...process.env, PORT } });
  expect(stdout).toContain(`opencode auth login ${base}\n`);

  // Nothing of the provider's own, which says that it is a demo.
  expect(gateway.output() + gateway.errors()).not.toContain('oidc-provider');
  gateway.signal('SIGTERM');
  expect(await gateway.ended).toBe(0);
  await expect(fetch(ada.provider)).rejects.toThrow('fetch failed');
});

test('DEMO_OIDC needs a port that people can be sent back to', async () => {
  const gateway = spawnGateway({ DEMO_OIDC: 'true', PORT: '0' });
  expect(await gateway.ended).toBe(1);
  expect(gateway.errors()).toBe('DEMO_OIDC needs a PORT other than 0, for people to be sent back to\n');
});
