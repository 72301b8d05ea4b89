import Anthropic from '@anthropic-ai/sdk';
import { afterAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { empty, json, silence, sse } from '../../local/upstream/script.ts';
import { readEvents } from '../support/client-view.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { startTestGateway } from '../support/gateway.ts';
import { chargesIn } from '../support/quota.ts';
import { testRows } from '../support/test-rows.ts';
import { readable } from '../support/upstream-identity.ts';
import { inTime, waitUntil } from '../support/wait-until.ts';
import { wire } from '../support/wire.ts';

const chunk = (delta: object, rest: object = {}) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'acmecorp/thunder-70b-instruct' },
  choices: [{ index: 0, delta, finish_reason: null, ...rest }],
});
const usage = { prompt_tokens: 12, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 8 } };
const events = (...chunks: object[]) => chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
const stream = (...chunks: object[]) => `${events(...chunks, { choices: [], usage })}data: [DONE]\n\n`;
const ended = (reason = 'stop') => chunk({}, { finish_reason: reason });
const hello = stream(
  chunk({ reasoning_content: 'Thunder thinks.' }),
  chunk({ content: 'I am Thun' }),
  chunk({ content: 'der.' }),
  ended(),
);

const plain = (message: object, reason = 'stop') => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'acmecorp/thunder-70b-instruct', usage },
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: reason }],
});

const hi = { messages: [{ role: 'user' as const, content: 'Hello' }] };
/** A feature that can't be translated. */
const stored = { input: [{ type: 'item_reference', id: 'msg_1' }] };
const weather = { type: 'object' as const, properties: { city: { type: 'string' } } };
const calling = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } };

const roomy = { GUEST_LIMIT: '1000', MEMBER_LIMIT: '900', BURST_LIMIT: '600' };
const gateway = await startTestGateway({ environment: { ...roomy, UPSTREAM_DIALECTS: 'chat' } });
const key = await gateway.issueKey();
const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: key, maxRetries: 0 });
afterAll(() => gateway[Symbol.asyncDispose]());

describe('an upstream that speaks only chat', () => {
  const post = (path: string, body: object) =>
    gateway.post(path, { model: 'svc', ...body }, { authorization: `Bearer ${key}` });
  const asked = () => {
    const request = gateway.upstream.requests.at(-1);
    return { path: request?.path, headers: request?.headers ?? {}, body: JSON.parse(String(request?.body)) };
  };
  const lastLine = async () => {
    const lines = () => gateway.log.filter(({ message }) => message === 'answered' || message === 'refused');
    const before = lines().length;
    await waitUntil(() => lines().length >= before, 'the request has ended');
    return lines().at(-1);
  };

  test('serves a stream to a responses client, hidden and counted', async () => {
    gateway.upstream.answer(sse(hello));
    const response = await openai.responses
      .stream({ model: 'svc', instructions: 'Be brief.', input: 'Who?' })
      .finalResponse();
    expect(response).toMatchObject({
      status: 'completed',
      model: 'svc',
      output_text: 'I am svc.',
      instructions: 'Be brief.',
    });
    expect(response.output).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'svc thinks.' }] },
      { type: 'message' },
    ]);
    expect(response.usage).toMatchObject({ input_tokens: 12, output_tokens: 5, total_tokens: 17 });
    const { path, headers, body } = asked();
    expect([path, headers.authorization]).toEqual(['/v1/chat/completions', 'Bearer upstream-key-one']);
    expect(body).toMatchObject({
      model: 'acmecorp/thunder-70b-instruct',
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(await lastLine()).toMatchObject({
      dialect: 'responses',
      end: 'complete',
      translated: true,
      inputTokens: 12,
    });
  });

  test('serves a stream to a messages client, and forwards no header of its dialect', async () => {
    gateway.upstream.answer(sse(hello));
    const message = await anthropic.messages
      .stream({ model: 'svc', max_tokens: 50, messages: [{ role: 'user', content: 'Who?' }] })
      .finalMessage();
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: 'svc thinks.' },
      { type: 'text', text: 'I am svc.' },
    ]);
    expect(message.usage).toMatchObject({ input_tokens: 4, cache_read_input_tokens: 8, output_tokens: 5 });
    const { headers, body } = asked();
    expect(Object.keys(headers).filter((name) => name.startsWith('anthropic-') || name === 'x-api-key')).toEqual([]);
    expect(body).toMatchObject({ max_tokens: 50, messages: [{ role: 'user' }] });
  });

  const secretive = 'I am Thunder of "AcmeCorp".\n\u2028\u{1f600}';
  const answers = {
    stream: () => {
      const pieces = secretive.match(/.{1,3}/gsu) ?? [];
      return sse(
        stream(...pieces.map((text) => chunk({ reasoning_content: text })), chunk({ content: 'Hi' }), ended()),
      );
    },
    plain: () => json(200, plain({ content: 'Hi', reasoning_content: secretive })),
  };

  test.each(['stream', 'plain'] as const)('gives hidden names back as clients have read them: %s', async (how) => {
    gateway.upstream.answer(answers[how]());
    const given = { model: 'svc', input: 'Who?', include: ['reasoning.encrypted_content' as const] };
    const { output } =
      how === 'plain' ? await openai.responses.create(given) : await openai.responses.stream(given).finalResponse();
    gateway.upstream.answer(answers[how]());
    const question = { role: 'user' as const, content: 'Who?' };
    const messages = { model: 'svc', max_tokens: 50, messages: [question] };
    const { content } =
      how === 'plain'
        ? await anthropic.messages.create(messages)
        : await anthropic.messages.stream(messages).finalMessage();
    expect(JSON.stringify([output, content])).toContain('I am svc of');
    expect(readable([output, content])).not.toMatch(/thunder|acme/i);
    const again = { role: 'user' as const, content: 'Really?' };
    gateway.upstream.otherwise(json(200, plain({ content: 'Yes.' })));
    await openai.responses.create({
      ...given,
      input: [question, ...(output as OpenAI.Responses.ResponseInputItem[]), again],
    });
    expect(asked().body.messages[1]).toEqual({ role: 'assistant', content: 'Hi', reasoning_content: secretive });
    await anthropic.messages.create({ ...messages, messages: [question, { role: 'assistant', content }, again] });
    expect(asked().body.messages[1]).toEqual({ role: 'assistant', content: 'Hi', reasoning_content: secretive });
  });

  test('says in a header and in the log what it left out', async () => {
    gateway.upstream.otherwise(json(200, plain({ content: 'Hello.' })));
    const answer = await post('/v1/responses', { input: 'Hello', tools: [{ type: 'web_search' }], future: 1 });
    expect([answer.status, answer.headers.get('x-svc-left-out')]).toEqual([200, 'tools[0], future']);
    expect(answer.headers.get('access-control-expose-headers')).toContain('X-Svc-Left-Out');
    expect(await answer.json()).toMatchObject({ tools: [] });
    expect(await lastLine()).toMatchObject({ leftOut: 'tools[0], ?', LeftOut: 1 });
    const untouched = await post('/v1/chat/completions', { ...hi, future: 1 });
    expect(untouched.headers.get('x-svc-left-out')).toBe(null);
    expect(await lastLine()).not.toHaveProperty('LeftOut');
  });

  test('refuses what chat can’t carry, with its place, without calling the upstream', async () => {
    const before = await chargesIn(gateway);
    const requests = gateway.upstream.requests.length;
    const answer = await post('/v1/responses', stored);
    const error = { message: expect.stringContaining('input[0]') };
    expect([answer.status, await answer.json()]).toMatchObject([400, { error }]);
    expect(gateway.upstream.requests).toHaveLength(requests);
    expect((await chargesIn(gateway)) - before).toBe(1);
  });

  test('counts no tokens without the operator’s tokenizer', async () => {
    const answer = await post('/v1/messages/count_tokens', hi);
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: { type: 'not_found_error' } }]);
    const ofResponses = await post('/v1/responses/input_tokens', { input: 'Hello' });
    expect([ofResponses.status, await ofResponses.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
  });

  /** A text, and a tool call with incomplete arguments. */
  const spoilt = events(
    chunk({ content: 'A text.' }),
    chunk({ tool_calls: [{ ...calling, index: 0, function: { name: 'f', arguments: '{"a":"' } }] }),
  );

  testRows([
    ['a last call whose arguments are none is delivered', events(ended()), 1],
    ['a call whose arguments never close, where the upstream does not say why it ends, too', '', 1],
    ['an end that is a failure is not', events(ended('error')), 0],
    ['a call without a name is not', events(chunk({ tool_calls: [{ index: 1, id: 'x' }] }), ended()), 0],
  ])('a broken stream is charged if it was delivered', async (_what, end, charges) => {
    const before = await chargesIn(gateway);
    gateway.upstream.answer(sse(`${spoilt}${end}data: [DONE]\n\n`));
    const answer = await post('/v1/messages', { stream: true, max_tokens: 9, ...hi });
    const text = await answer.text();
    expect(readEvents(text).at(-1)?.type).toBe('error');
    expect([text.includes('not charged'), (await chargesIn(gateway)) - before]).toEqual([charges === 0, charges]);
  });

  testRows([
    ['are broken', '{"a":', 1],
    ['are nested too deep', `{"a":${'['.repeat(10_001)}${']'.repeat(10_001)}}`, 1],
    ['belong to a call of another choice', undefined, 0],
  ])('a plain answer whose last call has such arguments is charged like a stream', async (_what, args, charges) => {
    const before = await chargesIn(gateway);
    const call = { ...calling, function: { name: 'f', arguments: args } };
    const { choices } = plain({ content: 'A text.', tool_calls: [call] });
    gateway.upstream.answer(json(200, { choices: args === undefined ? [...choices, ...choices] : choices }));
    const answer = await post('/v1/messages', { max_tokens: 9, ...hi });
    const { error } = Object(await answer.json());
    const models = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } });
    expect(answer.headers.get('x-svc-remaining')).toBe(models.headers.get('x-svc-remaining'));
    expect([answer.status, (await chargesIn(gateway)) - before]).toEqual([502, charges]);
    expect(error.message).toContain(charges === 1 ? 'This request was charged.' : 'This request was not charged.');
  });

  test('refunds a stream without a choice', async () => {
    const before = await chargesIn(gateway);
    gateway.upstream.answer(sse(`${events({ choices: [] })}data: [DONE]\n\n`));
    const text = await (await post('/v1/responses', { stream: true, input: 'Hello' })).text();
    expect(readEvents(text).at(-1)?.type).toBe('error');
    expect([text.includes('not charged'), (await chargesIn(gateway)) - before]).toEqual([true, 0]);
  });

  test('completes a stream at once that fails after its end', async () => {
    gateway.upstream.answer([...sse(events(chunk({ content: 'Hi' }), ended(), { error: { message: 'x' } })), silence]);
    const text = await inTime((await post('/v1/responses', { stream: true, input: 'Hello' })).text(), 'the end');
    expect(readEvents(text).at(-1)?.type).toBe('response.completed');
  });
});

test('the operator’s tokenizer counts what the model would get', async () => {
  await using tokenizer = await startFakeUpstream();
  const environment = { UPSTREAM_DIALECTS: 'chat', UPSTREAM_TOKENIZE_URL: `${new URL('/tokenize', tokenizer.url)}` };
  await using counting = await startTestGateway({ environment });
  const tools = [{ name: 'weather', input_schema: weather }];
  const asked = { model: 'svc', system: 'Be brief.', ...hi, tools, future: 1 };
  const key = await counting.issueKey();
  const ask = () => counting.post('/v1/messages/count_tokens', asked, { 'x-api-key': key });

  tokenizer.answer(json(200, { count: 31, max_model_len: 4096, tokens: [1, 2, 3] }));
  const answer = await ask();
  expect([answer.status, await answer.json()]).toEqual([200, { input_tokens: 31 }]);
  expect(answer.headers.get('x-svc-left-out')).toBe('future');
  const [request] = tokenizer.requests;
  expect([request?.path, request?.headers.authorization]).toEqual(['/tokenize', 'Bearer upstream-key-one']);
  expect(JSON.parse(String(request?.body))).toEqual({
    model: 'acmecorp/thunder-70b-instruct',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
    ],
    tools: [{ type: 'function', function: { name: 'weather', parameters: weather } }],
  });
  expect(counting.upstream.requests).toEqual([]);

  tokenizer.answer(json(200, { count: 7 }));
  const ofInput = await counting.post(
    '/v1/responses/input_tokens',
    { model: 'svc', input: 'Hi' },
    { 'x-api-key': key },
  );
  expect(await ofInput.json()).toEqual({ object: 'response.input_tokens', input_tokens: 7 });

  for (const [script, status, code] of [
    [empty(404), 404, 'not_found'],
    [json(200, { tokens: [] }), 502, 'upstream_error'],
    [json(200, { count: -1 }), 502, 'upstream_error'],
    [json(200, 'Thunder'), 502, 'upstream_error'],
  ] as const) {
    tokenizer.otherwise(script);
    const failed = await ask();
    expect([failed.status, failed.headers.get('x-svc-error')]).toEqual([status, code]);
    expect(await failed.text()).not.toMatch(/thunder/i);
  }
});

describe('several upstreams, of which the first speaks only chat', () => {
  async function startTwo(environment: Readonly<Record<string, string>> = {}) {
    await using started = new AsyncDisposableStack();
    const second = started.use(await startFakeUpstream());
    const gateway = started.use(
      await startTestGateway({
        environment: {
          ...{ UPSTREAM_DIALECTS: 'chat', UPSTREAM_2_BASE_URL: second.url, UPSTREAM_2_API_KEYS: 'upstream-key-two' },
          ...{ UPSTREAM_2_TEXT_MODEL: 'acmecorp/second', UPSTREAM_2_VISION_MODEL: 'acmecorp/second-eyes' },
          ...environment,
        },
      }),
    );
    second.otherwise(json(200, wire.responses.answer));
    const authorization = `Bearer ${await gateway.issueKey()}`;
    const running = started.move();
    return {
      ...{ gateway, second },
      ask: (body: object) => gateway.post('/v1/responses', { model: 'svc', ...body }, { authorization }),
      failures: () => gateway.log.filter(({ message }) => message === 'upstream failed'),
      [Symbol.asyncDispose]: () => running.disposeAsync(),
    };
  }
  test('what the first can’t carry, or fails at, is passed through to the second', async () => {
    await using two = await startTwo();
    const carried = await two.ask(stored);
    expect([carried.status, carried.headers.get('x-svc-left-out')]).toEqual([200, null]);
    expect([two.gateway.upstream.requests.length, two.second.requests[0]?.path]).toEqual([0, '/v1/responses']);
    expect(JSON.parse(String(two.second.requests[0]?.body))).toEqual({ model: 'acmecorp/second', ...stored });
    expect(two.failures()).toEqual([]);

    two.gateway.upstream.answer(empty(500));
    const failed = await two.ask({ input: 'Hello', future: 1 });
    expect([failed.status, failed.headers.get('x-svc-left-out')]).toEqual([200, null]);
    const paths = [two.gateway.upstream, two.second].map(({ requests }) => requests.map(({ path }) => path));
    expect(paths).toEqual([['/v1/chat/completions'], ['/v1/responses', '/v1/responses']]);
    expect(two.failures()).toMatchObject([{ upstream: 'UPSTREAM', another: true }]);

    // If the second upstream fails on what the first one can't carry, that failure is returned.
    two.second.otherwise(empty(500));
    expect((await two.ask(stored)).status).toBe(500);
  });

  // Seals of another account may be why the second upstream refuses the request. A translation contains none.
  test.each([
    ['a translation', 'chat', 400],
    ['the request as it is', 'chat,responses', 500],
  ])('after a failure of the first, the second’s 400 to %s (%s) becomes %i', async (_what, dialects, status) => {
    await using two = await startTwo({ UPSTREAM_2_DIALECTS: dialects });
    two.gateway.upstream.answer(empty(500));
    two.second.answer(json(400, { error: { message: 'Bad request.' } }));
    const reasoningBlock = { type: 'reasoning', summary: [], encrypted_content: 'svc1.AAAA' };
    const input = [{ role: 'user', content: 'Hello' }, reasoningBlock, { role: 'user', content: 'Again' }];
    expect((await two.ask({ input })).status).toBe(status);
  });

  test('if a first one of every dialect fails, a second one of chat gets the translation', async () => {
    await using two = await startTwo({ UPSTREAM_DIALECTS: 'chat,responses,messages', UPSTREAM_2_DIALECTS: 'chat' });
    two.gateway.upstream.otherwise(empty(500));
    two.second.answer(json(200, plain({ content: 'Hello.' })));
    const answer = await two.ask({ input: 'Hello', future: 1 });
    expect([answer.status, answer.headers.get('x-svc-left-out')]).toEqual([200, 'future']);
    expect(await answer.json()).toMatchObject({ object: 'response', status: 'completed', model: 'svc' });
    two.second.answer(sse(hello));
    const streamed = await two.ask({ input: 'Hello', stream: true });
    expect(readEvents(await streamed.text()).at(-1)?.type).toBe('response.completed');
    const paths = [two.gateway.upstream, two.second].map(({ requests }) => requests.map(({ path }) => path));
    expect(paths).toEqual([Array(2).fill('/v1/responses'), Array(2).fill('/v1/chat/completions')]);
    // If it can't carry the request either, the first one's failure is returned.
    expect((await two.ask(stored)).status).toBe(500);
  });
});
