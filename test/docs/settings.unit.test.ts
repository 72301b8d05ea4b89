import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { readDeploymentConfig } from '../../lib/config.ts';
import { madeFromSettings } from '../../lib/settings/write.ts';
import { localNames } from '../../local/local-settings.ts';
import { readBlocks } from './markdown.ts';

const read = (path: string) => readFileSync(path, 'utf8');

test.each(Object.entries(madeFromSettings))('%s is as `npm run settings` makes it', (path, render) => {
  expect(read(path)).toBe(render(read(path)));
});

test('docs/settings.md has what only a local gateway reads', () => {
  const [, section = ''] = read('docs/settings.md').split('## Only with `npm start`');
  const named = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name);
  expect(named.toSorted()).toEqual(localNames.toSorted());
});

describe('the schema of gateway.json', () => {
  const isValid = new Ajv({ allowUnionTypes: true }).compile(JSON.parse(read('docs/gateway.schema.json')));
  const [example = ''] = jsonIn('docs/settings.md');

  test('takes the example, which can be deployed', () => {
    const { gateway } = JSON.parse(read('cdk.json')).context;
    const { settings, ...rest } = readDeploymentConfig(gateway, 'prod', JSON.parse(example));
    expect([settings.quota.guestLimit, rest]).toEqual([5, expect.objectContaining({ terminationProtection: true })]);
    expect([isValid(JSON.parse(example)), isValid.errors]).toEqual([true, null]);
  });

  test('takes what other pages and cdk.json have', () => {
    const blocks = readBlocks(read('docs/upstreams.md')).filter(({ language }) => language === 'json');
    const files = [
      ...jsonIn('docs/deploy.md').map((text) => JSON.parse(text)),
      ...blocks.map(({ code }) => ({ defaults: JSON.parse(code) })),
      JSON.parse(read('cdk.json')).context.gateway,
    ];
    expect(files.length).toBeGreaterThan(10);
    for (const file of files) expect([file, isValid(file), isValid.errors]).toEqual([file, true, null]);
  });

  test.each([
    { UPSTREAM_2_BASE_URL: 'https://b.example/v1', GUEST_LIMIT: '5', WALLET_SIGN_IN: 'false', engine: '' },
    { PRICES: { svc: { input: 1, output: 2 } }, SPEND_LIMIT: 0.5, logRetentionDays: '30', tracing: true },
  ])('takes %j', (defaults) => {
    expect([isValid({ defaults, stages: { prod: defaults } }), isValid.errors]).toEqual([true, null]);
  });

  test.each([
    { defaults: { GUEST_LIMITS: 5 } },
    { defaults: { GUEST_LIMIT: -1 } },
    { defaults: { GUEST_LIMIT: 'five' } },
    { defaults: { ACCESS: 'closed' } },
    { defaults: { CURRENCY: 'euro' } },
    { defaults: { UPSTREAM_1_TEXT_MODEL: 'a' } },
    { defaults: { UPSTREAM_API_KEYS: 'a' } },
    { defaults: { KEYS_TABLE: 'keys' } },
    { defaults: { PORT: 8787 } },
    { stages: { Prod: {} } },
    { GUEST_LIMIT: 5 },
  ])('refuses %j', (file) => {
    expect(isValid(file)).toBe(false);
  });
});

/** The blocks of JSON on a page, those in its lists too. */
function jsonIn(path: string): string[] {
  return [...read(path).matchAll(/```json\n(.*?)```/gs)].map(([, code = '']) => code);
}
