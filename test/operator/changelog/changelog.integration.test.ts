import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Release, readHistory } from '../../../operator/changelog/read-history.ts';
import { notesOf, renderChangelog } from '../../../operator/changelog/render-changelog.ts';
import { type Checkout, createCheckout } from '../../support/checkout.ts';

let checkout: Checkout;
beforeAll(() => {
  checkout = createCheckout(['package.json']);
  const commit = (subject: string) =>
    checkout.git('commit', '--quiet', '--allow-empty', '--date=2027-01-31T12:00:00Z', '--message', subject);
  for (const subject of ['feat: keys', 'fix: a typing error in keys', 'test: keys']) commit(subject);
  checkout.git('tag', 'v0.1.0');
  for (const subject of ['feat(wallet): a page', 'fix!: keys end after a year', 'perf: half the time']) commit(subject);
  checkout.git('tag', 'v0.2.0');
  checkout.git('tag', 'nightly');
  for (const subject of ['docs: keys', 'fix: what a <tag> means']) commit(subject);
});
afterAll(() => checkout.remove());

const history = () => readHistory(checkout.folder, '0.3.0');

test('a history is divided by the tags of versions', () => {
  expect(history().map(({ version, subjects }: Release) => [version, subjects])).toEqual([
    ['0.3.0', ['fix: what a <tag> means', 'docs: keys']],
    ['0.2.0', ['perf: half the time', 'fix!: keys end after a year', 'feat(wallet): a page']],
    ['0.1.0', ['test: keys', 'fix: a typing error in keys', 'feat: keys', 'base']],
  ]);
  for (const { date } of history()) expect(date).toMatch(/^\d{4}-\d\d-\d\d$/);
});

describe('a changelog', () => {
  const releases = [
    {
      version: '0.2.0',
      date: '2027-02-28',
      subjects: ['perf: half the time', 'fix!: keys end', 'feat(wallet): a page'],
    },
    { version: '0.1.1', date: '2027-02-01', subjects: ['test: keys', 'a commit of another kind'] },
    { version: '0.1.0', date: '2027-01-31', subjects: ['fix: a typing error in keys', 'feat: keys'] },
  ];
  const text = renderChangelog(releases);

  test('lists what users notice, by kind, and for the first version only what is new', () => {
    expect(text).toBe(
      [
        '# What changed',
        '## 0.2.0, 2027-02-28',
        '### New\n\n- a page',
        '### Fixed\n\n- **breaking**: keys end',
        '### Faster\n\n- half the time',
        '## 0.1.1, 2027-02-01',
        'Nothing that users notice.',
        '## 0.1.0, 2027-01-31',
        '### New\n\n- keys\n',
      ].join('\n\n'),
    );
  });

  test('gives the notes of one version', () => {
    expect(notesOf(text, '0.1.0')).toBe('### New\n\n- keys\n');
    expect(() => notesOf(text, '0.1')).toThrow('docs/CHANGELOG.md has nothing about 0.1: npm run changelog');
  });

  test('of this product has the version in package.json', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(notesOf(readFileSync('docs/CHANGELOG.md', 'utf8'), version)).toMatch(/^- ./m);
  });
});
