import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { Setting } from '../../lambda/settings/read.ts';
import { serverSettings, settings, upstreamSettings } from '../../lambda/settings/table.ts';
import { readDeploymentConfig, setByStack } from '../../lib/config.ts';
import { stackSettings } from '../../lib/stack-settings.ts';

const text = readFileSync('docs/settings.md', 'utf8');

/** Every setting of its tables: name, default, allowed values, and the heading above. A row may name several. */
const rows = [...text.matchAll(/^## (.+)\n\n((?:\|.*\n)+)/gm)].flatMap(([, heading = '', table = '']) =>
  table
    .trimEnd()
    .split('\n')
    .slice(2)
    .flatMap((line) => {
      const [names = '', fallback = '', expects = ''] = line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim());
      const row = { heading, fallback: plain(fallback), expects: plain(expects) };
      return plain(names)
        .split(', ')
        .map((name) => ({ name, ...row }));
    }),
);

function plain(cell: string): string {
  return cell.replaceAll('`', '').replaceAll('\\', '');
}

/** Numbers as the page writes them: whole ones without a word, seconds with an s. */
function brief(expects = ''): string {
  return expects
    .replace(/^a number of seconds from (.+), fractions allowed$/, '$1 s')
    .replace(/^a whole number of MiB from (.+)$/, '$1 MiB')
    .replace(/^a whole number from /, '');
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

  test('shows the default and the allowed values of each', () => {
    const shown = rows.map(({ name, fallback, expects }) => [name, fallback, expects]);
    expect(shown).toEqual(rows.map(({ name }) => [name, known[name]?.fallback ?? '', brief(known[name]?.expects)]));
  });

  test('has an example that can be deployed', () => {
    const [, example = ''] = /```json\n([^`]+)```/.exec(text) ?? [];
    const { gateway } = JSON.parse(`{${example}}`);
    expect(readDeploymentConfig(gateway, 'prod')).toMatchObject({ stage: 'prod', terminationProtection: true });
  });

  test('lists what the stack itself sets', () => {
    const listed = rows.filter(({ heading }) => heading === 'Set by the stack').map(({ name }) => name);
    expect(listed.sort()).toEqual(Object.keys(setByStack).sort());
  });
});
