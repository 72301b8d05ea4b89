import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { serverSettings, settings } from '../../lambda/settings/definitions.ts';
import type { Setting } from '../../lambda/settings/read-settings.ts';
import { upstreamSettings } from '../../lambda/settings/upstream-definitions.ts';
import { readDeploymentConfig, setByStack } from '../../lib/config.ts';
import { stackSettings } from '../../lib/stack-settings.ts';

const text = readFileSync('docs/settings.md', 'utf8');

/** Every setting of its tables: name, default, other values to choose from, and the heading above. A row may name several. */
const rows = [...text.matchAll(/^## (.+)\n\n((?:\|.*\n)+)/gm)].flatMap(([, heading = '', table = '']) =>
  table
    .trimEnd()
    .split('\n')
    .slice(2)
    .flatMap((line) => {
      const [names = '', values = ''] = line.slice(1, -1).split('|');
      const [fallback = '', ...others] = [...values.matchAll(/`([^`]+)`/g)].map(([, value = '']) => value);
      const row = { heading, fallback, others };
      return plain(names)
        .split(', ')
        .map((name) => ({ name, ...row }));
    }),
);

function plain(cell: string): string {
  return cell.replaceAll('`', '').trim();
}

/** The values of a setting besides its default, if there are only a few and they say more than whether. */
function choicesOf({ expects = '', fallback }: Partial<Setting<unknown>> = {}): string[] {
  if (fallback === undefined || expects === 'true or false' || !/^[\w-]+(, [\w-]+)* or [\w-]+$/.test(expects))
    return [];
  return expects.split(/, | or /).filter((value) => value !== fallback);
}

const known: Readonly<Record<string, Setting<unknown>>> = {
  ...settings,
  ...serverSettings,
  ...stackSettings,
  ...Object.fromEntries(Object.entries(upstreamSettings).map(([name, setting]) => [`UPSTREAM_${name}`, setting])),
};

describe('docs/settings.md', () => {
  test('lists every setting once, and nothing else', () => {
    expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(known).sort());
  });

  test('shows the default and the choices of each', () => {
    const shown = rows.map(({ name, fallback, others }) => [name, fallback, others]);
    expect(shown).toEqual(rows.map(({ name }) => [name, known[name]?.fallback ?? '', choicesOf(known[name])]));
    expect(rows.filter(({ others }) => others.length > 0).length).toBeGreaterThan(10);
  });

  test('has an example that can be deployed', () => {
    const [, example = ''] = /```json\n([^`]+)```/.exec(text) ?? [];
    const { gateway } = JSON.parse(readFileSync('cdk.json', 'utf8')).context;
    const { settings, ...rest } = readDeploymentConfig(gateway, 'prod', JSON.parse(example));
    expect([settings.quota.guestLimit, rest]).toEqual([5, expect.objectContaining({ terminationProtection: true })]);
  });

  test('lists what the stack itself sets', () => {
    const listed = rows.filter(({ heading }) => heading === 'Set by the stack').map(({ name }) => name);
    expect(listed.sort()).toEqual(Object.keys(setByStack).sort());
  });
});
