import { expect, test } from '@jest/globals';
import { startWarnings } from '../../../lambda/serve.ts';
import { readConfig } from '../../../lambda/settings/config.ts';

const own = { KEYS_TABLE: 'keys', QUOTA_TABLE: 'quota', NETWORK_SALT: 'a-salt-of-a-test-gateway', ACCESS: 'keys' };
const upstream = (prefix: string, signs: string) => ({
  [`${prefix}_BASE_URL`]: 'https://api.acme.com/v1',
  [`${prefix}_TEXT_MODEL`]: 'words',
  [`${prefix}_VISION_MODEL`]: 'eyes',
  [`${prefix}_API_KEYS`]: 'k',
  [`${prefix}_SIGNS_THINKING`]: signs,
});

test.each([
  [{}, ['UPSTREAM_2_SIGNS_THINKING: once a name is hidden']],
  [{ UPSTREAM_SIGNS_THINKING: 'true' }, ['UPSTREAM_SIGNS_THINKING: ', 'UPSTREAM_2_SIGNS_THINKING: ']],
  [{ HIDE_IN_TEXT: 'none' }, []],
])('the start warns of each upstream that signs its reasoning, if names are hidden in texts: %j', (more, warned) => {
  const environment = { ...own, ...upstream('UPSTREAM', 'false'), ...upstream('UPSTREAM_2', 'true'), ...more };
  const warnings = startWarnings(environment, readConfig(environment), false);
  expect(warnings).toEqual(warned.map((beginning) => expect.stringMatching(`^${beginning}`)));
});
