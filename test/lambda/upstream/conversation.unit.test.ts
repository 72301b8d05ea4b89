import { describe, expect, test } from '@jest/globals';
import { chat } from '../../../lambda/dialects/chat/chat.ts';
import type { Dialect } from '../../../lambda/dialects/dialect.ts';
import { messages } from '../../../lambda/dialects/messages/messages.ts';
import { responses } from '../../../lambda/dialects/responses/responses.ts';
import { createScanner } from '../../../lambda/json/scan.ts';
import { keyOf } from '../../../lambda/settings/secrets.ts';
import { createRankKeys, readTraits, sessionHeaders } from '../../../lambda/upstream/conversation.ts';
import { testRows } from '../../support/test-rows.ts';

const traitsOf = (body: object, headers: Record<string, string> = {}, dialect: Dialect = chat) =>
  readTraits(headers, createScanner().scan(JSON.stringify(body)), dialect);
const opening = { messages: [{ role: 'user', content: 'hello' }] };

describe('a conversation is identified by', () => {
  testRows(sessionHeaders)('each header that names a session', (name) => {
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
  ])('otherwise the texts that it began with, wherever the cache marks are', (_, dialect, first, further) => {
    expect(traitsOf(first, {}, dialect)).toEqual(['"be brief"', '"hello"']);
    expect(traitsOf(further, {}, dialect)).toEqual(['"be brief"', '"hello"']);
    expect(traitsOf({}, {}, dialect)).toEqual([]);
  });
});

const rankWith = (secret: string) => createRankKeys(async (label) => keyOf(`${secret}/${label}`));
const rank = rankWith('salt');
const keys = ['key-one', 'key-two', 'key-three'];
const conversations = Array.from({ length: 300 }, (_, index) => ({ caller: 'me', traits: [`session ${index}`] }));

const firstOf = async (among: readonly string[], by = rank) =>
  Promise.all(conversations.map(async (conversation) => (await by(among, conversation))[0]));

describe('the keys of an upstream, ranked for a conversation', () => {
  test('are all there, in the same order each time and in every environment, however they are listed', async () => {
    for (const conversation of conversations.slice(0, 20)) {
      const ranked = await rank(keys, conversation);
      expect([...ranked].sort()).toEqual([...keys].sort());
      expect(await rankWith('salt')(keys.toReversed(), conversation)).toEqual(ranked);
    }
  });

  test('a key that is added takes its share, and moves nothing else', async () => {
    const [before, after] = [await firstOf(keys), await firstOf([...keys, 'key-four'])];
    const moved = after.filter((key, index) => key !== before[index]);
    expect(new Set(moved)).toEqual(new Set(['key-four']));
    expect(moved.length / after.length).toBeGreaterThan(0.15);
    expect(moved.length / after.length).toBeLessThan(0.35);
  });

  test('differ by caller and secret, so that nobody can target another’s key', async () => {
    const mine = await firstOf(keys);
    const theirs = await Promise.all(
      conversations.map(async ({ traits }) => (await rank(keys, { caller: 'somebody', traits }))[0]),
    );
    const same = theirs.filter((key, index) => key === mine[index]).length;
    expect(same / theirs.length).toBeLessThan(0.5);
    expect(await firstOf(keys, rankWith('another'))).not.toEqual(mine);
  });

  test('differ wherever caller and traits are split', async () => {
    const orderOf = async (caller: string, ...traits: string[]) => String(await rank(keys, { caller, traits }));
    const same = await Promise.all(
      conversations.map(async (_, i) => (await orderOf(`${i}a`, 'b')) === (await orderOf(`${i}`, 'ab'))),
    );
    expect(same).toContain(false);
  });

  test('one key needs no secret', async () => {
    const rankWithout = createRankKeys(() => Promise.reject(new Error('no salt')));
    expect(await rankWithout(['only'], { caller: 'me', traits: [] })).toEqual(['only']);
  });
});
