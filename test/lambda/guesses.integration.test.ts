import { afterAll, expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import type { RecordedRequest } from '../support/fake-upstream.ts';
import { startTestGateway } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';

/** A hidden name, and a similar ordinary word. A guesser must not be able to tell them apart by what the gateway says of itself. */
const [hidden, other] = ['acmecorp', 'ordinary'];

const roomy = { GUEST_LIMIT: '5000', BURST_LIMIT: '2000' };
const plain = await startTestGateway({ environment: roomy });
const translating = await startTestGateway({ environment: { ...roomy, UPSTREAM_DIALECTS: 'chat' } });
afterAll(() => Promise.all([plain, translating].map((gateway) => gateway[Symbol.asyncDispose]())));

/** A chat answer without text that calls the first of the offered tools. */
function answerTo({ body }: RecordedRequest) {
  const [tool] = JSON.parse(String(body)).tools ?? [];
  const call = tool && { id: 'call_1', type: 'function', function: { name: tool.function.name, arguments: '{}' } };
  const message = { role: 'assistant', content: call ? null : 'ok', ...(call && { tool_calls: [call] }) };
  const choices = [{ index: 0, message, finish_reason: call ? 'tool_calls' : 'stop' }];
  return json(200, { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', choices });
}

interface Asked {
  readonly path: string;
  readonly body?: object;
  readonly headers?: Record<string, string>;
}

/** The response, without what differs between any two responses. */
async function ask({ url }: typeof plain, { path, body, headers }: Asked, word: string): Promise<string> {
  const response = await fetch(url + path, {
    method: body ? 'POST' : 'GET',
    headers: { 'x-api-key': 'guest', 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const told = [...response.headers].filter(([name]) => !/remaining|request-id|^date$|content-length/.test(name));
  return JSON.stringify([response.status, told, await response.text()])
    .replaceAll(word, 'WORD')
    .replace(/[0-9a-f]{32}|"(created|completed)_at\\":\d+|\d+ requests? (is|are) left/g, '…');
}

const hi = { model: 'svc', messages: [{ role: 'user', content: 'hi' }] };
const input = { model: 'svc', input: 'hi' };
const schema = (word: string) => ({ type: 'object', properties: { [word]: { type: 'string', description: word } } });

testRows<[(word: string) => Asked]>([
  [(word) => ({ path: `/v1/models/${word}` })],
  [(word) => ({ path: `/v1/${word}` })],
  [(word) => ({ path: '/v1/models', headers: { 'x-api-key': `ltk_${word}` } })],
  [(word) => ({ path: '/v1/chat/completions', body: hi, headers: { 'content-encoding': word } })],
  [(word) => ({ path: '/v1/chat/completions', body: { ...hi, model: word } })],
  [(word) => ({ path: '/v1/messages', body: { ...hi, model: `${word}/large` } })],
  [(word) => ({ path: '/v1/responses', body: { ...input, model: word, stream: true } })],
  [
    (word) => {
      const variables = { [word]: { type: 'input_image', image_url: 'x' } };
      return { path: '/v1/responses', body: { ...input, prompt: { id: 'p', variables } } };
    },
  ],
  [(word) => ({ path: '/v1/responses', body: { ...input, previous_response_id: word } })],
])('a guess at a hidden name is answered like any other', async (asked) => {
  expect(await ask(plain, asked(hidden), hidden)).toBe(await ask(plain, asked(other), other));
});

testRows<[(word: string) => Asked]>([
  [
    (word) => ({
      path: '/v1/responses',
      body: { ...input, [word]: 1, instructions: word, metadata: { [word]: word } },
    }),
  ],
  [(word) => ({ path: '/v1/responses', body: { ...input, user: word, text: { format: { type: word } } } })],
  [(word) => ({ path: '/v1/responses', body: { ...input, input: [{ type: word }, { type: 'message', role: word }] } })],
  [(word) => ({ path: '/v1/responses', body: { ...input, tools: [{ type: word, name: word }] } })],
  [
    (word) => {
      const tool = { type: 'function', name: word, description: word, parameters: schema(word) };
      return {
        path: '/v1/responses',
        body: { ...input, tools: [tool], tool_choice: { type: 'function', name: word } },
      };
    },
  ],
  [(word) => ({ path: '/v1/responses', body: { ...input, tool_choice: { type: 'function', name: word } } })],
  [(word) => ({ path: '/v1/messages', body: { ...hi, max_tokens: 9, system: word, [word]: { [word]: word } } })],
  [
    (word) => {
      const tool = { name: word, description: word, input_schema: schema(word) };
      return { path: '/v1/messages', body: { ...hi, max_tokens: 9, tools: [tool], stop_sequences: [word] } };
    },
  ],
  [(word) => ({ path: '/v1/messages', body: { ...hi, max_tokens: 9, tools: [{ type: word, name: word }] } })],
])('a guess at a hidden name is answered like any other, also in what is translated', async (asked) => {
  translating.upstream.otherwise(answerTo);
  expect(await ask(translating, asked(hidden), hidden)).toBe(await ask(translating, asked(other), other));
});

test('only the upstream’s own words are hidden', async () => {
  translating.upstream.otherwise(json(400, { error: { message: `${hidden} and ${other}` } }));
  expect(await ask(translating, { path: '/v1/chat/completions', body: hi }, other)).toContain('svc and WORD');
});
