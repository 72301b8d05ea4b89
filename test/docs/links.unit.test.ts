import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from '@jest/globals';
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
  if (!existsSync(path)) return `${from}: ${link}: there is no ${path}`;
  if (anchor === undefined) return undefined;
  if (statSync(path).isDirectory() || !path.endsWith('.md')) return `${from}: ${link}: ${path} has no headings`;
  return anchorsIn(readFileSync(path, 'utf8')).includes(anchor)
    ? undefined
    : `${from}: ${link}: ${path} has no such heading`;
}

test('the links of all pages lead to files and headings that exist', () => {
  const links = pages.flatMap((page) => readLinks(readFileSync(page, 'utf8')).map((link) => ({ page, link })));
  expect(links.length).toBeGreaterThan(100);
  expect(links.flatMap(({ page, link }) => faultOf(page, link) ?? [])).toEqual([]);
});

test('every page can be reached from the README by links, or stands in a folder that can', () => {
  const reached = new Set<string>();
  const follow = (page: string) => {
    if (reached.has(page)) return;
    reached.add(page);
    for (const link of readLinks(readFileSync(page, 'utf8'))) {
      const [file = ''] = link.split('#');
      if (file === '' || /^\w+:/.test(file)) continue;
      const path = normalize(join(dirname(page), file));
      if (file.endsWith('.md')) follow(path);
      else for (const listed of pages.filter((one) => dirname(one) === path)) follow(listed);
    }
  };
  follow('README.md');
  expect(pages.filter((page) => !reached.has(page))).toEqual([]);
});

test('no line of a bash block has a comment: zsh takes its words as arguments, and its apostrophe as a quote', () => {
  const lines = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/^ *(?:1\. )?```bash\n(.*?)^ *```$/gms)].flatMap(([, code = '']) =>
      code.split('\n').map((line) => `${page}: ${line.trim()}`),
    ),
  );
  expect(lines.length).toBeGreaterThan(100);
  expect(lines.filter((line) => /\s#/.test(line))).toEqual([]);
});
