import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createSnippets } from '../../lambda/accounts/pages/cli/snippets.js';
import { createSignInSnippets } from '../../operator/setup.ts';
import { readBlocks } from './markdown.ts';

const docs = join(import.meta.dirname, '../../docs');
const page = readFileSync(join(docs, 'clients.md'), 'utf8');
const access = { gatewayUrl: 'https://gateway.example', serviceName: 'svc', contextWindow: 1_000_000 };
const snippets = createSnippets({ ...access, key: 'YOUR_KEY' });
const signedIn = createSignInSnippets({ ...access, appUrl: 'https://app.example' });

const languages: Readonly<Record<string, string>> = {
  JavaScript: 'js',
  Python: 'python',
  Terminal: 'sh',
  Environment: 'sh',
};
const languageOf = (title: string) => languages[title] ?? /\.(toml|json|yaml)$/.exec(title)?.[1] ?? 'text';

describe('docs/clients.md', () => {
  test('has the current blocks of every client, and of those that sign in', () => {
    const all = [...snippets, ...signedIn];
    const shown = all.map(({ title }) => {
      const [, section = ''] = page.split(`\n### ${title}\n`);
      const titles = [...(section.split(/\n##/)[0] ?? '').matchAll(/^\*\*(.+)\*\*$/gm)].map(([, name]) => name);
      const blocks = readBlocks(page).filter(({ heading }) => heading === title);
      return { title, titles, blocks: blocks.map(({ language, code }) => ({ language, code })) };
    });
    expect(shown).toEqual(
      all.map(({ title, blocks }) => ({
        title,
        titles: blocks.map((block) => block.title),
        blocks: blocks.map((block) => ({ language: languageOf(block.title), code: `${block.text}\n` })),
      })),
    );
  });

  test('has a section for every client, and for no other', () => {
    const headings = [...page.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([...snippets, ...signedIn].map(({ title }) => title));
  });
});
