import { describe, expect, test } from '@jest/globals';
import type OpenAI from 'openai';
import { empty, json } from '../../local/upstream/script.ts';
import { type Answer, type FakeUpstream, startFakeUpstream } from '../support/fake-upstream.ts';
import { startTestGateway } from '../support/gateway.ts';
import { faultsOf } from '../support/message-rules.ts';
import { createBindingModel, messageOf } from '../support/strict-messages.ts';
import { testRows } from '../support/test-rows.ts';
import { wire } from '../support/wire.ts';

const question = { role: 'user', content: 'Who?' };

describe('a pool of three upstreams: messages, chat, and every dialect', () => {
  /** An upstream that rejects this gateway's seals, as those with their own seals do. */
  const sealing =
    (answer: object): Answer =>
    ({ body }) =>
      `${body}`.includes('svc1.')
        ? json(400, { error: { message: 'Encrypted content could not be verified.' } })
        : json(200, answer);

  async function startPool() {
    await using started = new AsyncDisposableStack();
    const [ofChat, ofAll] = [started.use(await startFakeUpstream()), started.use(await startFakeUpstream())];
    const pool = started.use(
      await startTestGateway({
        environment: {
          ...{ UPSTREAM_DIALECTS: 'messages', UPSTREAM_OUTPUT_LIMIT: '9', UPSTREAM_API_KEYS: 'messages-1,messages-2' },
          ...{ UPSTREAM_2_DIALECTS: 'chat', UPSTREAM_2_BASE_URL: ofChat.url, UPSTREAM_2_API_KEYS: 'chat-1,chat-2' },
          ...{ UPSTREAM_2_TEXT_MODEL: 'acmecorp/second', UPSTREAM_2_VISION_MODEL: 'acmecorp/second-eyes' },
          ...{ UPSTREAM_3_BASE_URL: ofAll.url, UPSTREAM_3_API_KEYS: 'all-1,all-2' },
          ...{ UPSTREAM_3_TEXT_MODEL: 'acmecorp/third', UPSTREAM_3_VISION_MODEL: 'acmecorp/third-eyes' },
        },
      }),
    );
    const running = started.move();
    const authorization = `Bearer ${await pool.issueKey()}`;
    return {
      ...{ ofMessages: pool.upstream, ofChat, ofAll },
      post: (path: string, body: object) => pool.post(path, { model: 'svc', ...body }, { authorization }),
      [Symbol.asyncDispose]: () => running.disposeAsync(),
    };
  }
  const keysOf = ({ requests }: FakeUpstream) => [
    ...new Set(requests.map(({ headers }) => headers['x-api-key'] ?? headers.authorization)),
  ];
  const bodyOf = ({ requests }: FakeUpstream) => JSON.parse(`${requests.at(-1)?.body}`);
  const chatSays = (content: string, reasoning?: string) => {
    const message = { role: 'assistant', content, ...(reasoning && { reasoning_content: reasoning }) };
    return { ...Object(wire.chat.answer), choices: [{ index: 0, message, finish_reason: 'stop' }] };
  };

  test('each is tried if the previous ones fail, without what another one sealed, which is reported', async () => {
    await using pool = await startPool();
    const { ofMessages, ofChat, ofAll } = pool;
    const include = ['reasoning.encrypted_content'];
    const ask = async (...input: object[]) => {
      const response = await pool.post('/v1/responses', { include, input });
      const { output } = (await response.json()) as { output: object[] };
      return { status: response.status, output, leftOut: response.headers.get('x-svc-left-out') };
    };
    const { says } = createBindingModel();
    ofMessages.answer(says([{ redacted: 'blob' }, { text: 'Hi' }]));
    const first = await ask(question);
    expect(first.output).toMatchObject([{ type: 'reasoning', summary: [] }, { type: 'message' }]);

    ofMessages.otherwise(empty(500));
    ofChat.answer(json(200, chatSays('Hello', 'Hm.')));
    const second = await ask(question, ...first.output, question);
    expect([second.status, second.leftOut]).toEqual([200, 'input[1].encrypted_content']);
    expect(bodyOf(ofChat).messages[1]).toEqual({ role: 'assistant', content: 'Hi' });

    ofChat.otherwise(empty(500));
    ofAll.otherwise(sealing(wire.responses.answer as object));
    const whole = [question, ...first.output, question, ...second.output];
    const third = await ask(...whole, question);
    expect([third.status, third.leftOut]).toEqual([200, 'input[1], input[4]']);
    expect([ofAll.requests.at(-1)?.path, bodyOf(ofAll).input]).toEqual([
      '/v1/responses',
      [question, first.output[1], question, second.output[1], question],
    ]);

    ofMessages.otherwise(says([{ text: 'Again' }]));
    ofAll.otherwise(empty(500));
    const own = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' };
    const again = await ask(...whole, own, question);
    expect([again.status, again.leftOut]).toEqual([200, 'input[4], input[6].encrypted_content']);
    expect(faultsOf(bodyOf(ofMessages))).toEqual([]);
    expect(bodyOf(ofMessages).messages[1].content).toEqual([
      { type: 'redacted_thinking', data: 'blob' },
      { type: 'text', text: 'Hi' },
    ]);
    // In each, the whole conversation used one key.
    expect([ofMessages, ofChat, ofAll].map(keysOf)).toEqual(Array(3).fill([expect.any(String)]));
  });

  test('what a chat upstream sealed for a messages or chat client is withheld from one of every dialect as well', async () => {
    await using pool = await startPool();
    const { ofMessages, ofChat, ofAll } = pool;
    ofMessages.otherwise(empty(500));
    ofChat.answer(json(200, chatSays('Hello', 'Hm.')));
    const ask = (...messages: object[]) => pool.post('/v1/messages', { max_tokens: 9, messages });
    const { content } = (await (await ask(question)).json()) as { content: object[] };
    expect(content).toMatchObject([{ type: 'thinking', signature: expect.stringMatching(/^svc1/) }, { type: 'text' }]);
    ofChat.otherwise(empty(500));
    ofAll.otherwise(sealing(wire.messages.answer as object));
    const said = { role: 'assistant', content };
    // A message with only reasoning is left out entirely, because messages must not be empty.
    const reasoningBlock = { role: 'assistant', content: content.slice(0, 1) };
    const response = await ask(question, said, question, reasoningBlock, question);
    const leftOut = 'messages[1].content[0], messages[3].content[0]';
    expect([response.status, response.headers.get('x-svc-left-out')]).toEqual([200, leftOut]);
    expect(bodyOf(ofAll).messages).toEqual([
      question,
      { role: 'assistant', content: content.slice(1) },
      ...[question, question],
    ]);
  });

  test('what a messages upstream sealed for a chat client is withheld from one of every dialect', async () => {
    await using pool = await startPool();
    const { ofMessages, ofChat, ofAll } = pool;
    ofMessages.answer(json(200, messageOf([{ thinking: 'Hm.' }, { text: 'Hi' }])));
    const ask = (...messages: object[]) => pool.post('/v1/chat/completions', { messages });
    const { choices } = (await (await ask(question)).json()) as OpenAI.ChatCompletion;
    const message = Object(choices[0]?.message);
    expect(message.reasoning_details).toHaveLength(1);
    for (const one of [ofMessages, ofChat]) one.otherwise(empty(500));
    ofAll.otherwise(sealing(chatSays('Hello')));
    const response = await ask(question, message, question);
    expect([response.status, response.headers.get('x-svc-left-out')]).toEqual([
      ...[200, 'messages[1].reasoning_details[0]'],
    ]);
    expect(bodyOf(ofAll).messages).toEqual([question, { ...message, reasoning_details: [] }, question]);

    // Some clients keep reasoning in the content. If it is removed, the tool calls beside it stay.
    const reasoningBlock = { type: 'thinking', thinking: 'Hm.', signature: message.reasoning_details[0].signature };
    const called = { tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] };
    const result = { role: 'tool', tool_call_id: 'a', content: 'b' };
    const second = await ask(question, { role: 'assistant', content: [reasoningBlock], ...called }, result);
    expect([second.status, second.headers.get('x-svc-left-out')]).toEqual([200, 'messages[1].content[0]']);
    expect(bodyOf(ofAll).messages).toEqual([question, { role: 'assistant', content: [], ...called }, result]);

    // Seals don't leave in a member that no dialect has. Its name may not be logged either.
    const odd = { ...question, 'a name of my own': [reasoningBlock] };
    const third = await ask(odd);
    expect([third.headers.get('x-svc-left-out'), bodyOf(ofAll).messages]).toEqual([null, [odd]]);
  });

  testRows([80, 3])(
    'what only looks like a seal, or is cut to so many characters, is left out and named too',
    async (length) => {
      await using pool = await startPool();
      const { ofMessages, ofChat, ofAll } = pool;
      for (const one of [ofMessages, ofChat]) one.otherwise(empty(500));
      ofAll.otherwise(json(200, wire.responses.answer as object));
      const sealed = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: `svc1.${'A'.repeat(length)}` };
      const response = await pool.post('/v1/responses', { input: [sealed, question] });
      expect([response.headers.get('x-svc-left-out'), bodyOf(ofAll).input]).toEqual(['input[0]', [question]]);
    },
  );
});
