import { expect, test } from '@jest/globals';
import { readConfig } from '../../../lambda/settings/config.ts';
import { createSecrets } from '../../../lambda/settings/secrets.ts';

test('an upstream’s secret is taken apart once for each upstream, until it is read again', async () => {
  let time = 0;
  const secrets = createSecrets(
    { upstreamSecretId: 'id', networkSalt: 'salt', networkSaltSecretId: undefined, edgeSecretId: undefined },
    {
      readSecret: async () =>
        JSON.stringify({
          UPSTREAM_API_KEYS: `a,b${time}`,
          UPSTREAM_HEADERS: { 'x-org': 'o' },
          UPSTREAM_2_API_KEYS: 'c',
        }),
      now: () => time,
      onStale: () => {},
    },
  );
  const [first, second] = readConfig({
    ...{ UPSTREAM_BASE_URL: 'http://one.example', UPSTREAM_TEXT_MODEL: 't', UPSTREAM_VISION_MODEL: 'v' },
    ...{ UPSTREAM_2_BASE_URL: 'http://two.example', UPSTREAM_2_TEXT_MODEL: 't', UPSTREAM_2_VISION_MODEL: 'v' },
    ...{ UPSTREAM_SECRET_ID: 'id', NETWORK_SALT: 'a salt of sixteen', KEYS_TABLE: 'keys', QUOTA_TABLE: 'quota' },
  }).upstreams;
  if (!first || !second) throw new Error('two upstreams were set');
  const access = await secrets.upstreamAccess(first);
  expect(access).toMatchObject({ keys: ['a', 'b0'], secretHeaders: { 'x-org': 'o' } });
  const again = await secrets.upstreamAccess(first);
  expect([again.keys, again.secretHeaders]).toEqual([access.keys, access.secretHeaders]);
  expect(again.keys).toBe(access.keys);
  expect(again.secretHeaders).toBe(access.secretHeaders);
  expect((await secrets.upstreamAccess(second)).keys).toEqual(['c']);
  time = 60_000;
  expect((await secrets.upstreamAccess(first)).keys).toEqual(['a', 'b60000']);
});
