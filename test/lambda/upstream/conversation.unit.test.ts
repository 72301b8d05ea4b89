import { describe, expect, test } from '@jest/globals';
import { createChat } from '../../../lambda/dialects/chat.ts';
import { createScanner } from '../../../lambda/json/scan.ts';
import { readTraits } from '../../../lambda/upstream/conversation.ts';

const chat = createChat({ streamUsage: false });
const traitsOf = (body: object, headers: Record<string, string> = {}) =>
  readTraits(headers, createScanner().scan(JSON.stringify(body)), chat);
const opening = { messages: [{ role: 'user', content: 'hello' }] };

describe('a conversation is known by', () => {
  test.each([
    'x-claude-code-session-id',
    'session-id',
    'session_id',
    'thread-id',
    'x-session-affinity',
    'x-opencode-session',
    'x-session-id',
  ])('the header %s', (name) => {
    expect(traitsOf(opening, { [name]: ' one ' })).toEqual(['one']);
    expect(traitsOf(opening, { [name]: ' ' })).toEqual(['"hello"']);
  });

  test('the first that is there of what its body says', () => {
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

  test('else by its opening words', () => {
    const messages = [{ role: 'system', content: 'be brief' }, ...opening.messages];
    const further = [...messages, { role: 'assistant', content: 'hi' }, { role: 'user', content: 'and?' }];
    expect(traitsOf({ messages })).toEqual(['"be brief"', '"hello"']);
    expect(traitsOf({ messages: further })).toEqual(traitsOf({ messages }));
    expect(traitsOf({})).toEqual([]);
  });
});
