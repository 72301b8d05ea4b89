import { describe, expect, test } from '@jest/globals';
import { readConfig } from '../../lambda/settings/config.ts';
import { findWarnings } from '../../local/find-warnings.ts';
import { gatewayVariables } from '../../local/local-settings.ts';

const demo = { url: 'http://127.0.0.1:1/v1', apiKey: 'k', textModel: 't', visionModel: 'v', names: [] };
const upstream = (prefix: string) => ({
  [`${prefix}_BASE_URL`]: 'http://127.0.0.1:9/v1',
  [`${prefix}_TEXT_MODEL`]: 'words',
  [`${prefix}_VISION_MODEL`]: 'eyes',
});

function warnings(environment: Record<string, string>, host = '127.0.0.1'): string[] {
  const variables = gatewayVariables(environment, environment.UPSTREAM_BASE_URL?.trim() ? undefined : demo);
  return findWarnings(environment, host, readConfig({ ...environment, ...variables }));
}

describe('the demo', () => {
  test('ignores settings of an upstream without an address, and says which', () => {
    expect(
      warnings({
        UPSTREAM_BASE_URL: ' ',
        UPSTREAM_API_KEYS: 'secret-key',
        UPSTREAM_TEXT_MODEL: 'words',
        UPSTREAM_HEADERS: '{"x-team":"a"}',
        UPSTREAM_RESPONSES_BASE_URL: 'https://host/api/v1',
        UPSTREAM_SECRET_ID: 'keys',
        UPSTREAM_NAMES: 'Acme',
        UPSTREAM_VISION_MODEL: '',
      }),
    ).toEqual([
      'without UPSTREAM_BASE_URL the built-in demo answers, and ignores UPSTREAM_TEXT_MODEL, ' +
        'UPSTREAM_RESPONSES_BASE_URL, UPSTREAM_HEADERS, UPSTREAM_API_KEYS, UPSTREAM_SECRET_ID',
    ]);
    expect(warnings({ UPSTREAM_NAMES: 'Acme' })).toEqual([]);
    expect(warnings(upstream('UPSTREAM_2'))).toEqual([
      'without UPSTREAM_BASE_URL the built-in demo answers first, and the upstream of UPSTREAM_2_BASE_URL never',
    ]);
    const real = { ...upstream('UPSTREAM'), UPSTREAM_API_KEYS: 'k', DEMO_DIALECTS: 'chat' };
    expect(warnings(real)).toEqual([expect.stringMatching(/^DEMO_DIALECTS .* set UPSTREAM_DIALECTS$/)]);
  });
});

describe('an upstream without keys', () => {
  test.each<[what: string, environment: Record<string, string>, said: RegExp[]]>([
    ['alone', upstream('UPSTREAM'), [/^without UPSTREAM_API_KEYS every request is refused \(503 unconfigured\)/]],
    [
      'beside one with keys',
      { ...upstream('UPSTREAM'), ...upstream('UPSTREAM_2'), UPSTREAM_API_KEYS: 'k' },
      [/^without UPSTREAM_2_API_KEYS this upstream is not used/],
    ],
    ['with keys in a secret', { ...upstream('UPSTREAM'), UPSTREAM_SECRET_ID: 'keys' }, []],
    ['that has some', { ...upstream('UPSTREAM'), UPSTREAM_API_KEYS: 'k' }, []],
  ])('%s', (_what, environment, said) => {
    expect(warnings(environment)).toEqual(said.map((pattern) => expect.stringMatching(pattern)));
  });
});

describe('a HOST that other machines reach', () => {
  const real = { ...upstream('UPSTREAM'), UPSTREAM_API_KEYS: 'k' };
  const salt = { NETWORK_SALT: 'a-secret-of-the-operator' };
  const [toDemo, toSalt] = [
    /^HOST .* the built-in demo answers;/,
    /^HOST .* the default NETWORK_SALT .* 16 characters/,
  ];

  test.each<[what: string, environment: Record<string, string>, said: RegExp[]]>([
    ['the demo and the default salt', {}, [toDemo, toSalt]],
    ['the demo', salt, [toDemo]],
    ['the default salt', real, [toSalt]],
    ['neither', { ...real, ...salt }, []],
  ])('with %s', (_what, environment, said) => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1', 'myhost']) {
      expect(warnings(environment, host)).toEqual(said.map((pattern) => expect.stringMatching(pattern)));
    }
    for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) expect(warnings(environment, host)).toEqual([]);
  });
});
