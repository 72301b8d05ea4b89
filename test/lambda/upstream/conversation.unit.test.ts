import { describe, expect, test } from '@jest/globals';
import { createChat } from '../../../lambda/dialects/chat.ts';
import type { Dialect } from '../../../lambda/dialects/dialect.ts';
import { createMessages } from '../../../lambda/dialects/messages.ts';
import { responses } from '../../../lambda/dialects/responses.ts';
import { createScanner } from '../../../lambda/json/scan.ts';
import { readTraits } from '../../../lambda/upstream/conversation.ts';
import { testRows } from '../../support/test-rows.ts';

const chat = createChat({ streamUsage: false });
const messages = createMessages({ signsThinking: false });
const traitsOf = (body: object, headers: Record<string, string> = {}, dialect: Dialect = chat) =>
  readTraits(headers, createScanner().scan(JSON.stringify(body)), dialect);
const opening = { messages: [{ role: 'user', content: 'hello' }] };

describe('a conversation is known by', () => {
  testRows([
    'x-claude-code-session-id',
    'session-id',
    'session_id',
    'thread-id',
    'x-session-affinity',
    'x-opencode-session',
    'x-session-id',
  ])('each header that names a session', (name) => {
    expect(traitsOf(opening, { [name]: ' one ' })).toEqual(['one']);
    expect(traitsOf(opening, { [name]: ' ' })).toEqual(['"hello"']);
  });

  test('the first id present in its body', () => {
    const body = { ...opening, prompt_cache_key: 'cache', metadata: { user_id: 'user' }, session_id: 'session' };
    expect(traitsOf(body, { 'session-id': 'header' })).toEqual(['header']);
    expect(traitsOf(body)).toEqual(['cache']);
    expect(traitsOf({ ...body, prompt_cache_key: undefined })).toEqual(['user']);
    expect(traitsOf({ ...body, prompt_cache_key: '', metadata: {} })).toEqual(['session']);
    expect(traitsOf({ ...body, prompt_cache_key: 1234, metadata: undefined })).toEqual(['session']);
    expect(traitsOf({ ...body, prompt_cache_key: null, metadata: { user_id: ['x'] }, session_id: {} })).toEqual([
      '"hello"',
    ]);
  });

  test('otherwise its opening words', () => {
    const messages = [{ role: 'system', content: 'be brief' }, ...opening.messages];
    const further = [...messages, { role: 'assistant', content: 'hi' }, { role: 'user', content: 'and?' }];
    expect(traitsOf({ messages })).toEqual(['"be brief"', '"hello"']);
    expect(traitsOf({ messages: further })).toEqual(traitsOf({ messages }));
    expect(traitsOf({})).toEqual([]);
  });

  const marked = (text: string) => [{ type: 'text', text, cache_control: { type: 'ephemeral' } }];
  const later = [
    { role: 'assistant', content: 'hi' },
    { role: 'user', content: 'and?' },
  ];
  const asItem = (text: string) => ({ role: 'user', content: [{ type: 'input_text', text }] });
  testRows<[string, Dialect, object, object]>([
    [
      'chat',
      chat,
      { messages: [{ role: 'system', content: marked('be brief') }, ...opening.messages] },
      { messages: [{ role: 'system', content: 'be brief' }, { role: 'user', content: marked('hello') }, ...later] },
    ],
    [
      'messages',
      messages,
      { system: marked('be brief'), ...opening },
      { system: 'be brief', messages: [{ role: 'user', content: marked('hello') }, ...later] },
    ],
    [
      'responses',
      responses,
      { instructions: 'be brief', input: 'hello' },
      { instructions: 'be brief', input: [asItem('hello'), ...later] },
    ],
  ])('only its texts count, wherever the cache marks are', (_, dialect, first, further) => {
    expect(traitsOf(first, {}, dialect)).toEqual(['"be brief"', '"hello"']);
    expect(traitsOf(further, {}, dialect)).toEqual(['"be brief"', '"hello"']);
  });
});
