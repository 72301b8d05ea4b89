import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { renderPage } from '../../../lib/settings/render-page.ts';

const page = readFileSync('docs/settings.md', 'utf8');
const quota = '<!-- settings: quota -->';

test('a table is regenerated from the definitions, and the prose around it stays', () => {
  const changed = renderPage(page).replace('## Quota', '## How many');
  expect(renderPage(changed.replace(/^\| `(DAILY_LIMIT|ACCESS)` .*\n/gm, ''))).toBe(changed);
  expect(renderPage(page.replace(/^\|.*\n/gm, ''))).toContain(
    '| `ACCESS` | `open`, or `keys` | with `keys`, only keys work',
  );
});

test('each section must be on the page once', () => {
  expect(() => renderPage(page.replace(quota, ''))).toThrow(/each section once, but not so quota$/);
  expect(() => renderPage(`${page}\n${quota}\n`)).toThrow(/each section once, but not so quota$/);
  expect(() => renderPage(page.replace(quota, '<!-- settings: quotas -->'))).toThrow(/quotas, but no settings/);
});
