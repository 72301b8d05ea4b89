import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { chatFields } from '../../lambda/translate/chat/request-fields.ts';
import { messagesFields } from '../../lambda/translate/messages/request-fields.ts';
import type { Fields } from '../../lambda/translate/request/members.ts';
import { knownItems } from '../../lambda/translate/responses/read-items.ts';
import { responsesFields } from '../../lambda/translate/responses/request-fields.ts';
import { readDeclarations } from '../support/sdk-types.ts';
import { readTables } from './markdown.ts';

const [responses = [], items = [], messages = [], , inside = [], chat = []] = readTables(
  readFileSync('docs/translation.md', 'utf8'),
);

const namesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

const words: Readonly<Record<string, string>> = { ignore: 'ignored', leave: 'left out' };
const verdictOf = (fate: Fields[string]) => (typeof fate === 'string' ? (words[fate] ?? 'refused') : 'translated');
const verdicts = (fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, fate]) => [name, verdictOf(fate)]));

describe('docs/translation.md says what becomes of each field', () => {
  test.each<[dialect: string, table: string[][], fields: Fields]>([
    ['responses', responses, responsesFields.request],
    ['messages', messages, messagesFields.request],
    ['chat', chat, chatFields.request],
  ])('of a %s request', (_dialect, table, fields) => {
    const rows = table.slice(1).flatMap(([names, fate = '']) => {
      const [verdict = 'translated'] = /^(ignored|left out|refused)(?! if)/.exec(fate) ?? [];
      return namesIn(names).map((name) => [name, verdict]);
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
    [chat, 'openai/resources/chat/completions/completions.d.ts', 'ChatCompletionCreateParamsBase', []],
  ])('that the SDKs know (%#)', (table, file, type, headers) => {
    const { syntax } = readDeclarations([`node_modules/${file}`]).get(type) ?? {};
    const names: string[] = syntax?.body.body.map(
      ({ key }: { key: { name?: string; value?: string } }) => key.name ?? key.value,
    );
    const documented = table.slice(1).flatMap(([field]) => namesIn(field));
    expect(names.filter((name) => !documented.includes(name))).toEqual(headers);
  });

  test('of the objects inside, so far as they are left out or refused', () => {
    const documented = inside.slice(1).flatMap(([objects = '', ...cells]) => {
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
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(known));
  });

  test('of which items', () => {
    const documented = items.slice(1).flatMap(([types]) => namesIn(types));
    expect(documented.toSorted()).toEqual(knownItems.filter((type) => type !== '').toSorted());
  });
});
