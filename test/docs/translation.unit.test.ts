import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { messagesFields } from '../../lambda/translate/request/messages-fields.ts';
import type { Fields } from '../../lambda/translate/request/reading.ts';
import { responsesFields } from '../../lambda/translate/request/responses-fields.ts';
import { knownItems, refusedItems } from '../../lambda/translate/request/responses-items.ts';
import { refusedTools } from '../../lambda/translate/request/responses-tools.ts';
import { readDeclarations } from '../support/sdk-types.ts';
import { readTables } from './markdown.ts';

const [responses = [], items = [], messages = [], tools = [], inside = []] = readTables(
  readFileSync('docs/translation.md', 'utf8'),
);

const namesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

const words: Readonly<Record<string, string>> = { map: 'translated', ignore: 'ignored', leave: 'left out' };
const verdictOf = (fate: string) => words[fate] ?? 'refused';
const verdicts = (fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, fate]) => [name, verdictOf(fate)]));

describe('docs/translation.md says what becomes of each field', () => {
  test.each<[dialect: string, table: string[][], fields: Fields]>([
    ['responses', responses, responsesFields.request],
    ['messages', messages, messagesFields.request],
  ])('of a %s request', (_dialect, table, fields) => {
    const rows = table.slice(1).map(([field, fate = '']) => {
      const [verdict = 'translated'] = /^(ignored|left out|refused)(?! if)/.exec(fate) ?? [];
      return [namesIn(field)[0], verdict];
    });
    expect(Object.fromEntries(rows)).toEqual(verdicts(fields));
  });

  // What is new in an SDK is left out and said so, until somebody has decided better.
  test.each<[table: string[][], file: string, type: string, headers: string[]]>([
    [responses, 'openai/resources/responses/responses.d.ts', 'ResponseCreateParamsBase', []],
    [
      messages,
      '@anthropic-ai/sdk/resources/beta/messages/messages.d.ts',
      'MessageCreateParamsBase',
      ['betas', 'workspace_id'],
    ],
  ])('that the SDKs know (%#)', (table, file, type, headers) => {
    const { syntax } = readDeclarations([`node_modules/${file}`]).get(type) ?? {};
    const names: string[] = syntax?.body.body.map(
      ({ key }: { key: { name?: string; value?: string } }) => key.name ?? key.value,
    );
    const documented = table.slice(1).flatMap(([field]) => namesIn(field));
    expect(names.filter((name) => !documented.includes(name))).toEqual(headers);
  });

  test('of the objects inside', () => {
    const documented = inside.slice(1).map(([dialect, object, ...cells]) => {
      const fates = ['translated', 'ignored', 'left out', 'refused'].map((fate, index) =>
        namesIn(cells[index]).map((name) => [name, fate]),
      );
      return [`${dialect} ${object}`, Object.fromEntries(fates.flat())];
    });
    const known = Object.entries({ responses: responsesFields, messages: messagesFields }).flatMap(
      ([dialect, things]) =>
        Object.entries(things)
          .filter(([object]) => object !== 'request')
          .map(([object, fields]) => [`${dialect} ${object}`, verdicts(fields)]),
    );
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(known));
  });

  test.each<[what: string, table: string[][], known: readonly string[], refused: readonly string[]]>([
    ['items', items, knownItems.filter((type) => type !== ''), Object.keys(refusedItems)],
    ['tools', tools, [], Object.keys(refusedTools)],
  ])('and of which %s', (_what, table, known, refused) => {
    const isRefused = ([, fate]: string[]) => fate === 'refused';
    const documented = table.slice(1);
    expect(documented.filter(isRefused).flatMap(([types]) => namesIn(types))).toEqual([...refused]);
    if (known.length > 0) {
      expect(documented.filter((row) => !isRefused(row)).flatMap(([types]) => namesIn(types))).toEqual([...known]);
    }
  });
});
