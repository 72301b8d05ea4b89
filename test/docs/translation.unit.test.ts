import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { chatFields } from '../../lambda/dialects/chat/request-fields.ts';
import { messagesFields } from '../../lambda/dialects/messages/request-fields.ts';
import type { Fields } from '../../lambda/dialects/model/request/take-members.ts';
import { knownItems } from '../../lambda/dialects/responses/read-items.ts';
import { responsesFields } from '../../lambda/dialects/responses/request-fields.ts';
import { readDeclarations } from '../support/sdk-types.ts';
import { readTables } from './markdown.ts';

const [fields = [], items = [], , inside = []] = readTables(readFileSync('docs/translation.md', 'utf8'));

const namesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

const words: Readonly<Record<string, string>> = { ignore: 'ignored', leave: 'left out' };
const verdictOf = (fate: Fields[string]) => (typeof fate === 'string' ? (words[fate] ?? 'refused') : 'translated');
const verdicts = (fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, fate]) => [name, verdictOf(fate)]));

/** The fields in a column, or members of them (`text.format`), with their rows' verdicts. */
function documented(column: number): [name: string, verdict: string][] {
  return fields.slice(1).flatMap(([title = '', ...cells]) => {
    const [, verdict = 'translated'] = /^\*\*(.+)\*\*$/.exec(title) ?? [];
    return namesIn(cells[column]).map((name): [string, string] => [name, verdict]);
  });
}

const fieldOf = (name: string) => name.split('.')[0] ?? '';

describe('docs/translation.md says what becomes of each field', () => {
  test.each<[column: string, fields: Fields]>([
    ['chat completions', chatFields.request],
    ['responses', responsesFields.request],
    ['messages', messagesFields.request],
  ])('of a request of %s, once', (column, known) => {
    const rows = documented(fields[0]?.slice(1).indexOf(column) ?? -1);
    expect(Object.fromEntries(rows.map(([name, verdict]) => [fieldOf(name), verdict]))).toEqual(verdicts(known));
    const names = rows.map(([name]) => name);
    expect(names.filter((name, at) => names.indexOf(name) < at)).toEqual([]);
  });

  // What is new in an SDK is left out and said so, until somebody has decided better.
  test.each<[column: number, file: string, type: string, headers: string[]]>([
    [0, 'openai/resources/chat/completions/completions.d.ts', 'ChatCompletionCreateParamsBase', []],
    [1, 'openai/resources/responses/responses.d.ts', 'ResponseCreateParamsBase', []],
    [
      2,
      '@anthropic-ai/sdk/resources/beta/messages/messages.d.ts',
      'MessageCreateParamsBase',
      ['betas', 'workspace_id'],
    ],
  ])('that the SDKs know (%#)', (column, file, type, headers) => {
    const { syntax } = readDeclarations([`node_modules/${file}`]).get(type) ?? {};
    const names: string[] = syntax?.body.body.map(
      ({ key }: { key: { name?: string; value?: string } }) => key.name ?? key.value,
    );
    const known = documented(column).map(([name]) => fieldOf(name));
    expect(names.filter((name) => !known.includes(name))).toEqual(headers);
  });

  test('of the objects inside, so far as they are left out or refused', () => {
    const said = inside.slice(1).flatMap(([objects = '', ...cells]) => {
      const fates = ['left out', 'refused'].map((fate, index) => namesIn(cells[index]).map((name) => [name, fate]));
      return objects.split(', ').map((object) => [object, Object.fromEntries(fates.flat())]);
    });
    const { request: _, ...ofResponses } = responsesFields;
    const { request: __, tool, ...ofMessages } = messagesFields;
    const { message } = chatFields;
    const own = { ...ofMessages, 'tool of messages': tool, 'message of chat': message };
    const all = [...Object.entries(ofResponses), ...Object.entries(own)];
    const known = all.flatMap(([object, fields]) => {
      const fates = Object.entries(verdicts(fields)).filter(
        ([, verdict]) => verdict === 'left out' || verdict === 'refused',
      );
      return fates.length > 0 ? [[object, Object.fromEntries(fates)]] : [];
    });
    expect(Object.fromEntries(said)).toEqual(Object.fromEntries(known));
  });

  test('of which items', () => {
    const said = items.slice(1).flatMap(([types]) => namesIn(types));
    expect(said.toSorted()).toEqual(knownItems.filter((type) => type !== '').toSorted());
  });
});
