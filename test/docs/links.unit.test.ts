import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { anchorsIn, readLinks } from './markdown.ts';

const pages = [
  'README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

/** What is wrong with a link from one file to another; nothing for those that lead elsewhere. */
function faultOf(from: string, link: string): string | undefined {
  if (/^\w+:/.test(link)) return undefined;
  const [file = '', anchor] = link.split('#');
  const path = file === '' ? from : normalize(join(dirname(from), file));
  if (!existsSync(path)) return `${link}: there is no ${path}`;
  if (anchor === undefined) return undefined;
  if (statSync(path).isDirectory() || !path.endsWith('.md')) return `${link}: ${path} has no headings`;
  return anchorsIn(readFileSync(path, 'utf8')).includes(anchor) ? undefined : `${link}: ${path} has no such heading`;
}

test.each(pages)('the links of %s lead to files and headings that exist', (page) => {
  const links = readLinks(readFileSync(page, 'utf8'));
  expect(links.flatMap((link) => faultOf(page, link) ?? [])).toEqual([]);
});

describe('a link', () => {
  test.each([
    ['https://example.com/nothing', undefined],
    ['api.md', undefined],
    ['api.md#errors', undefined],
    ['#commands', undefined],
    ['../README.md#run-it', undefined],
    ['nothing.md', 'nothing.md: there is no docs/nothing.md'],
    ['api.md#nothing', 'api.md#nothing: docs/api.md has no such heading'],
    ['#nothing', '#nothing: docs/CONTRIBUTING.md has no such heading'],
    ['openapi.json#info', 'openapi.json#info: docs/openapi.json has no headings'],
  ])('from CONTRIBUTING.md to %s', (link, fault) => {
    expect(faultOf('docs/CONTRIBUTING.md', link)).toBe(fault);
  });
});

test('every page can be reached from the README by links', () => {
  const reached = new Set<string>();
  const follow = (page: string) => {
    if (reached.has(page)) return;
    reached.add(page);
    for (const link of readLinks(readFileSync(page, 'utf8'))) {
      const [file = ''] = link.split('#');
      if (file.endsWith('.md') && !/^\w+:/.test(file)) follow(normalize(join(dirname(page), file)));
    }
  };
  follow('README.md');
  expect(pages.filter((page) => !reached.has(page))).toEqual([]);
});
