import { expect, test } from '@jest/globals';
import { createSecrets } from '../../../lambda/settings/secrets.ts';
import type { Upstream } from '../../../lambda/settings/upstreams.ts';

test('each upstream has its own part of the secret', async () => {
  const secret = { UPSTREAM_API_KEYS: 'a,b', UPSTREAM_HEADERS: { 'x-org': 'o' }, UPSTREAM_2_API_KEYS: 'c' };
  const secrets = createSecrets(
    { upstreamSecretId: 'id', networkSalt: 'salt', networkSaltSecretId: undefined, edgeSecretId: undefined },
    { readSecret: async () => JSON.stringify(secret), now: () => 0, onStale: () => {} },
  );
  const accessOf = (prefix: string) =>
    secrets.upstreamAccess({ prefix, apiKeys: [], headers: {} } as unknown as Upstream);
  expect(await accessOf('UPSTREAM')).toMatchObject({ keys: ['a', 'b'], secretHeaders: { 'x-org': 'o' } });
  expect(await accessOf('UPSTREAM_2')).toMatchObject({ keys: ['c'], secretHeaders: {} });
});
