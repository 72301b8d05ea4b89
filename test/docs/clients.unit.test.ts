import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Snippet } from '../../lambda/wallet/pages/cli/snippet.js';
import { createSnippets } from '../../lambda/wallet/pages/cli/snippets.js';
import { agents } from '../agents/agents.ts';
import { frameworks } from '../agents/frameworks.ts';
import { scenarios } from '../agents/scenarios.ts';
import { readBlocks, readTables, toAnchor } from './markdown.ts';

const docs = join(import.meta.dirname, '../../docs');
const page = readFileSync(join(docs, 'clients.md'), 'utf8');
const snippets = createSnippets({
  ...{ gatewayUrl: 'https://gateway.example', serviceName: 'svc', key: 'YOUR_KEY' },
  contextWindow: 1_000_000,
});
const [list, runs, symptoms] = readTables(page);
const wordsIn = (text = ''): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);

const languages: Readonly<Record<string, string>> = {
  JavaScript: 'js',
  Python: 'python',
  Terminal: 'sh',
  Environment: 'sh',
};
const languageOf = (title: string) => languages[title] ?? /\.(toml|json|yaml)$/.exec(title)?.[1] ?? 'text';

describe('docs/clients.md', () => {
  test.each(snippets)('has the current blocks of $title', ({ title, blocks }: Snippet) => {
    const [, section = ''] = page.split(`\n### ${title}\n`);
    const titles = [...(section.split(/\n##/)[0] ?? '').matchAll(/^\*\*(.+)\*\*$/gm)].map(([, name]) => name);
    const shown = readBlocks(page).filter(({ heading }) => heading === title);
    expect(titles).toEqual(blocks.map((block) => block.title));
    expect(shown.map(({ language, code }) => ({ language, code }))).toEqual(
      blocks.map((block) => ({ language: languageOf(block.title), code: `${block.text}\n` })),
    );
  });

  test('lists every client by the name that `keys setup` takes, and no other', () => {
    expect(list?.slice(1).map(([link, name]) => [link, name])).toEqual(
      snippets.map(({ id, title }) => [`[${title}](#${toAnchor(title)})`, `\`${id}\``]),
    );
  });

  test('lists what was run, with the versions that `npm run agents` runs', () => {
    const [head, ...rows] = runs ?? [];
    expect(head?.slice(2)).toEqual(scenarios.map(({ title }) => title));
    expect(rows.map(([client, version]) => wordsIn(`${client} ${version}`))).toEqual(
      [...agents, ...frameworks].map(({ client, packages: [main] }) => [client, main]),
    );
    for (const [, , ...cells] of rows)
      expect(cells.every((cell) => /^\d+\/\d+( in \d+ s)?(, still trying)?$|^no stream$/.test(cell))).toBe(true);
    expect(page).toMatch(/^Run on \d{4}-\d{2}-\d{2}\.$/m);
  });

  test('explains the messages that `npm run agents` waits for', () => {
    const explained = (symptoms ?? []).flatMap(([seen, where]) => wordsIn(`${seen} ${where}`)).join('\n');
    for (const { says } of agents) {
      for (const words of [says.badKey, says.spentQuota, says.brokenStream ?? '']) expect(explained).toContain(words);
    }
  });

  test('quotes the gateway’s messages exactly', () => {
    const lambda = join(docs, '../lambda');
    const sources = readdirSync(lambda, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const code = sources.map((name) => readFileSync(join(lambda, name), 'utf8')).join('\n');
    const seen = (symptoms ?? []).flatMap(([words, where]) => wordsIn(`${words} ${where}`));
    const quoted = seen.flatMap(
      (words) => /(The (API key|quota of|answer)|There is nothing).*?(?= …|$)/.exec(words)?.[0] ?? [],
    );
    expect(quoted.length).toBeGreaterThan(5);
    for (const sentence of quoted) expect(code).toContain(sentence);
  });
});
