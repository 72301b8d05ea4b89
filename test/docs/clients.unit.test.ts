import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { createSnippets } from '../../lambda/accounts/pages/cli/snippets.js';
import { createSignInSnippets } from '../../operator/setup.ts';
import { readBlocks } from './markdown.ts';

const page = readFileSync('docs/clients.md', 'utf8');
const access = { gatewayUrl: 'https://gateway.example', serviceName: 'svc', contextWindow: 1_000_000 };
const snippets = [
  ...createSnippets({ ...access, key: 'YOUR_KEY' }),
  ...createSignInSnippets({ ...access, appUrl: 'https://app.example' }),
];

const languages: Readonly<Record<string, string>> = {
  JavaScript: 'js',
  Python: 'python',
  Terminal: 'sh',
  Environment: 'sh',
};
const languageOf = (title: string) => languages[title] ?? /\.(toml|json|yaml)$/.exec(title)?.[1] ?? 'text';

test('docs/clients.md has a section for every client and for no other, with its current blocks', () => {
  const sections = page.split(/^(?=###? )/m).filter((section) => section.startsWith('### '));
  const shown = sections.map((section) => ({
    title: /^### (.+)/.exec(section)?.[1],
    titles: [...section.matchAll(/^\*\*(.+)\*\*$/gm)].map(([, title]) => title),
    blocks: readBlocks(section).map(({ language, code }) => ({ language, code })),
  }));
  expect(shown).toEqual(
    snippets.map(({ title, blocks }) => ({
      title,
      titles: blocks.map((block) => block.title),
      blocks: blocks.map((block) => ({ language: languageOf(block.title), code: `${block.text}\n` })),
    })),
  );
});
