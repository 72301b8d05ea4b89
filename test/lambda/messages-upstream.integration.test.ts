import { afterAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { empty, json, type Script, sse } from '../../local/upstream/script.ts';
import { startTestGateway } from '../support/gateway.ts';
import { faultsOf } from '../support/message-rules.ts';
import { chargesIn } from '../support/quota.ts';
import { createBindingModel, eventsOf, messageOf, toWire } from '../support/strict-messages.ts';
import { testRows } from '../support/test-rows.ts';
import { readable } from '../support/upstream-identity.ts';
import { waitUntil } from '../support/wait-until.ts';

const gateway = await startTestGateway({
  environment: {
    ...{ GUEST_LIMIT: '1000', MEMBER_LIMIT: '900', BURST_LIMIT: '600' },
    ...{ UPSTREAM_DIALECTS: 'messages', UPSTREAM_OUTPUT_LIMIT: '4096', UPSTREAM_SIGNS_THINKING: 'true' },
  },
});
const key = await gateway.issueKey();
const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
afterAll(() => gateway[Symbol.asyncDispose]());

/** The upstream's last request, which must be valid for the vendor of messages. */
function asked() {
  const request = gateway.upstream.requests.at(-1);
  const body = JSON.parse(String(request?.body));
  expect(faultsOf(body)).toEqual([]);
  return { path: request?.path, headers: request?.headers ?? {}, body };
}

const post = (path: string, body: object) =>
  gateway.post(path, { model: 'svc', ...body }, { authorization: `Bearer ${key}` });

const weather = { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } };
const tools = [{ type: 'function' as const, strict: false, ...weather }];
const chatTool = { type: 'function' as const, function: weather };
const secret = 'I am Thunder of "AcmeCorp".\n\u{1f600}';
const thinking = { thinking: secret };
const calls = { call: 'weather', input: { city: 'Paris' } };
const question = { role: 'user' as const, content: 'Who?' };

const { says } = createBindingModel();
const answer = (...said: Parameters<typeof says>) => gateway.upstream.answer(says(...said));

/** Nothing that could identify the upstream. */
function expectClean(given: unknown): void {
  expect(readable(given)).not.toMatch(/msg_upstream|thunder|acme|mars|service_tier|container|request-id/i);
}

const hows = ['stream', 'plain'] as const;
type How = (typeof hows)[number];

async function askChat(how: How, body: Omit<OpenAI.ChatCompletionCreateParams, 'model'>) {
  const params = { model: 'svc', ...body } as OpenAI.ChatCompletionCreateParamsNonStreaming;
  if (how === 'plain') return openai.chat.completions.create(params);
  const stream = openai.chat.completions.stream({
    ...{ ...params, stream: true, stream_options: { include_usage: true } },
  });
  let reasoning = '';
  // The SDK does not accumulate members that it does not know.
  stream.on('chunk', ({ choices }) => (reasoning += Object(choices[0]?.delta).reasoning_content ?? ''));
  const completion = await stream.finalChatCompletion();
  Object.assign(Object(completion.choices[0]?.message), { reasoning_content: reasoning });
  return completion;
}

async function askResponses(how: How, body: Omit<OpenAI.Responses.ResponseCreateParams, 'model' | 'stream'>) {
  const params = { model: 'svc', include: ['reasoning.encrypted_content' as const], ...body };
  if (how === 'plain') return openai.responses.create(params);
  return openai.responses.stream(params).finalResponse();
}

/** A request with a tool, and the choice that answers it. */
async function choiceOf(how: How, ...said: Parameters<typeof says>) {
  answer(...said);
  const { choices } = await askChat(how, { messages: [question], tools: [chatTool] });
  if (choices[0] === undefined) throw new Error('no choice');
  return choices[0];
}

const turns = [1, 2, 3];

describe.each(hows)('an upstream that speaks only messages: %s', (how) => {
  test('answers a client of chat, hidden and counted', async () => {
    answer([thinking, { text: 'I am Thunder.' }]);
    const completion = await askChat(how, {
      ...{ messages: [{ role: 'developer', content: 'Be brief.' }, question], stop: 'END' },
    });
    expect(completion).toMatchObject({
      model: 'svc',
      choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: 'I am svc.' } }],
      usage: { prompt_tokens: 12, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 6 } },
    });
    expect(Object(completion.choices[0]?.message).reasoning_content).toContain('I am svc of');
    expectClean(completion);
    const { path, headers, body } = asked();
    expect([path, headers['anthropic-version'], headers['x-api-key']]).toEqual([
      '/v1/messages',
      '2023-06-01',
      'upstream-key-one',
    ]);
    expect(body).toEqual({
      ...{ model: 'acmecorp/thunder-70b-instruct', max_tokens: 4096, stop_sequences: ['END'] },
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Who?' }] }],
      ...(how === 'stream' && { stream: true }),
    });
  });

  test('gets its own words back from a client of chat, turn by turn', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [question];
    for (const turn of turns) {
      const said = [{ thinking: `${secret} ${turn}` }, { redacted: `blob${turn}` }, { text: `Turn ${turn}.` }];
      answer([...said, { ...calls, id: `toolu_${turn}` }]);
      const { choices } = await askChat(how, { messages, tools: [chatTool], reasoning_effort: 'high' });
      const [choice] = choices;
      expect([choice?.finish_reason, choice?.message.tool_calls]).toMatchObject([
        'tool_calls',
        [{ id: `call_${turn}`, type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } }],
      ]);
      expectClean(choices);
      if (choice === undefined) throw new Error('no choice');
      const seal = expect.stringMatching(/^svc1\.[\w-]+$/);
      expect(Object(choice.message).reasoning_details).toEqual([
        { type: 'reasoning.text', text: expect.stringContaining('I am svc of'), signature: seal, index: 0 },
        { type: 'reasoning.encrypted', data: seal, index: 1 },
      ]);
      messages.push(choice.message, { role: 'tool', tool_call_id: `call_${turn}`, content: 'Sunny' });
    }
    answer([{ text: 'Sunny.' }]);
    await askChat(how, { messages, tools: [chatTool], reasoning_effort: 'high' });
    const { body } = asked();
    expect(body).toMatchObject({
      ...{ thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
      tools: [{ name: 'weather', input_schema: weather.parameters }],
    });
    for (const turn of turns) {
      expect(body.messages[2 * turn - 1].content).toMatchObject([
        { type: 'thinking', thinking: `${secret} ${turn}` },
        { type: 'redacted_thinking', data: `blob${turn}` },
        { type: 'text', text: `Turn ${turn}.` },
        { type: 'tool_use', id: `toolu_${turn}`, name: 'weather', input: { city: 'Paris' } },
      ]);
      expect(body.messages[2 * turn].content).toEqual([
        { type: 'tool_result', tool_use_id: `toolu_${turn}`, content: [{ type: 'text', text: 'Sunny' }] },
      ]);
    }
  });

  test('gets its own words back from a client of responses, even if its reasoning is redacted', async () => {
    const input: OpenAI.Responses.ResponseInput = [question];
    for (const turn of turns) {
      answer([
        { redacted: `blob${turn}` },
        { thinking: `${secret} ${turn}` },
        ...[{ text: 'Let me look.' }, { thinking: 'There.' }],
        { ...calls, id: `toolu_${turn}` },
      ]);
      const { output, usage } = await askResponses(how, { input, tools, reasoning: { effort: 'minimal' } });
      expect(output).toMatchObject([
        { type: 'reasoning', summary: [{ text: expect.stringContaining('I am svc of') }] },
        ...[{ type: 'message' }, { type: 'reasoning' }],
        { type: 'function_call', call_id: `call_${turn}`, arguments: '{"city":"Paris"}' },
      ]);
      expect(usage).toMatchObject({ input_tokens: 12, input_tokens_details: { cached_tokens: 6 }, output_tokens: 5 });
      expectClean(output);
      const result = { type: 'function_call_output' as const, call_id: `call_${turn}`, output: 'Sunny' };
      input.push(...(output as OpenAI.Responses.ResponseInputItem[]), result);
    }
    answer([{ text: 'Sunny.' }]);
    expect((await askResponses(how, { input, tools })).output_text).toBe('Sunny.');
    const { messages } = asked().body;
    for (const turn of turns) {
      expect(messages[2 * turn - 1].content).toMatchObject([
        { type: 'redacted_thinking', data: `blob${turn}` },
        { type: 'thinking', thinking: `${secret} ${turn}` },
        ...[{ type: 'text' }, { type: 'thinking', thinking: 'There.' }],
        { type: 'tool_use', id: `toolu_${turn}` },
      ]);
    }
  });

  testRows([
    ['a name', ['I am Thunde', 'r', '.'], 'I am svc.'],
    ['what may begin one', ['I am Thunde', '!', ' A'], 'I am Thunde! A'],
    ['what does not', ['I am a', ' model of Acme', 'Corp'], 'I am a model of svc'],
  ])('is hidden where reasoning splits it', async (_, texts, shown) => {
    const { message } = await choiceOf(
      how,
      texts.flatMap((text) => [{ thinking: 'Hm.' }, { text }]),
    );
    expect(message.content).toBe(shown);
  });

  test('its text is sent before its tool calls', async () => {
    const { message } = await choiceOf(how, [{ text: 'I am Thunde' }, calls, { text: 'rous' }]);
    expect(message).toMatchObject({ content: 'I am Thundesvcous', tool_calls: [{}] });
  });

  testRows<[string, Parameters<typeof says>[0]]>([
    ['what it said first', [{ text: 'Let me see.' }, thinking, calls]],
    ['two reasoning blocks', [thinking, { text: 'Let me see.' }, { redacted: 'blob' }, calls]],
    ['two calls', [thinking, calls, { thinking: 'Hm.' }, { ...calls, id: 'toolu_2' }]],
    ['a call without a word', [calls, { redacted: 'blob' }, { ...calls, id: 'toolu_2' }]],
  ])('its reasoning comes back in its place', async (_, said) => {
    const { message } = await choiceOf(how, said, { reason: 'tool_use' });
    const results = (message.tool_calls ?? []).map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Sunny' }));
    const { sent } = await sendBack('/v1/chat/completions', {
      ...{ messages: [question, message, ...results], tools: [chatTool] },
    });
    expect(sent).toEqual([messageOf(said).content]);
  });
});

testRows([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content_filter'],
  ['stop_sequence', 'stop'],
])('the reason of an end is translated', async (reason, finish) => {
  expect((await choiceOf('plain', [{ text: 'Hi' }], { reason })).finish_reason).toBe(finish);
});

test('calls without arguments have an empty object, and several calls are numbered', async () => {
  const { message } = await choiceOf('stream', [
    { call: 'weather', id: 'a' },
    { ...calls, id: 'b' },
  ]);
  expect(message.tool_calls).toMatchObject([
    { id: 'a', function: { arguments: '{}' } },
    { id: 'b', function: { arguments: '{"city":"Paris"}' } },
  ]);
});

test('text, reasoning and calls reach a client of responses in their order', async () => {
  const second = { ...calls, id: 'toolu_2' };
  const said = [thinking, calls, { thinking: 'Hm.' }, { text: 'Meanwhile.' }, { redacted: 'blob' }, second];
  answer(said, { reason: 'tool_use' });
  const { output } = await askResponses('plain', { tools, input: [question] });
  const results = ['call_1', 'call_2'].map((call_id) => ({ type: 'function_call_output', call_id, output: 'Sunny' }));
  const { sent } = await sendBack('/v1/responses', { tools, input: [question, ...output, ...results] });
  expect(sent).toEqual([messageOf(said).content]);
});

/** Returns what the client's next request sends back for the assistant, and the places that it reports as left out. */
async function sendBack(path: string, body: object) {
  answer([{ text: 'Sunny.' }]);
  const response = await post(path, body);
  expect(response.status).toBe(200);
  const sent = asked().body.messages.filter(({ role }: { role: string }) => role === 'assistant');
  return {
    sent: sent.map(({ content }: { content: unknown }) => content),
    leftOut: response.headers.get('x-svc-left-out'),
  };
}

describe.each(hows)('reasoning that the upstream would not accept again is left out, and reported: %s', (how) => {
  const later = [{ thinking: 'Hm.' }, { redacted: 'blob' }, calls];
  const afterName = [thinking, { text: 'I am Thunder.' }, ...later];
  const shown = messageOf([thinking, { text: 'I am svc.' }, calls]).content;

  test('after a hidden name, from a chat client', async () => {
    const { message } = await choiceOf(how, afterName);
    const messages = [question, message, { role: 'tool', tool_call_id: 'call_1', content: 'Sunny' }];
    for (const _ of [1, 2]) {
      const { sent, leftOut } = await sendBack('/v1/chat/completions', { tools: [chatTool], messages });
      expect(sent).toEqual([shown]);
      expect(leftOut).toBe('messages[1].reasoning_details[1], messages[1].reasoning_details[2]');
    }
  });

  const afterId = [{ ...calls, id: 'toolu_bdrk_9' }, ...later];
  testRows<[string, typeof afterName | typeof afterId, unknown, string]>([
    ['a hidden name', afterName, shown, 'input[3]'],
    ['an id that is not its own', afterId, messageOf([{ ...calls, id: 'toolu_9' }, calls]).content, 'input[2]'],
  ])('after what was changed, from a responses client', async (_, said, sentBack, place) => {
    answer(said);
    const { output } = await askResponses(how, { tools, input: [question] });
    const results = output.flatMap((item) =>
      item.type === 'function_call' ? [{ type: 'function_call_output', call_id: item.call_id, output: 'Sunny' }] : [],
    );
    for (const _again of [1, 2]) {
      const { sent, leftOut } = await sendBack('/v1/responses', { tools, input: [question, ...output, ...results] });
      expect([sent, leftOut]).toEqual([[sentBack], place]);
    }
  });
});

describe('if it refuses reasoning, it is retried once without any', () => {
  const other = { type: 'function', function: { name: 'news' } };

  /** A conversation whose client changes its tools in the middle. */
  async function changeTools(stream = false, padding = '') {
    const asking = [{ ...question, content: `Who? ${padding}` }];
    answer([thinking, { redacted: 'blob' }, calls]);
    const first = await post('/v1/chat/completions', { messages: asking, tools: [chatTool] });
    const { choices } = Object(await first.json());
    const messages = [...asking, choices[0].message, { role: 'tool', tool_call_id: 'call_1', content: 'Sunny' }];
    return { messages, tools: [chatTool, other], reasoning_effort: 'high', stream };
  }

  testRows([
    ['a stream', true, ''],
    ['a plain answer', false, ''],
    ['an answer to a long body', false, 'x'.repeat(100_000)],
  ])('it is charged once, and the client is told so', async (_what, stream, padding) => {
    const body = await changeTools(stream, padding);
    const [before, asked] = [await chargesIn(gateway), gateway.upstream.requests.length];
    answer([{ text: 'Refused before this.' }]);
    answer([{ text: 'Yes.' }]);
    const response = await post('/v1/chat/completions', body);
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Yes')]);
    // A tool call that lacks its reasoning is continued without thinking.
    const places = ['messages[1].reasoning_details[0]', 'messages[1].reasoning_details[1]', 'reasoning_effort'];
    expect(response.headers.get('x-svc-left-out')).toBe(places.join(', '));
    expect([(await chargesIn(gateway)) - before, gateway.upstream.requests.length - asked]).toEqual([1, 2]);
    const contents = gateway.upstream.requests.slice(-2).map(({ body }) => JSON.parse(`${body}`).messages[1].content);
    expect(contents).toEqual([[thinking, { redacted: 'blob' }, calls], [calls]].map((said) => messageOf(said).content));
    const isSaid = ({ thoughtsRefused, tries, status }: Record<string, unknown>) =>
      thoughtsRefused === true && tries === 2 && status === 200;
    await waitUntil(() => gateway.log.some(isSaid), 'the log says so');
  });

  test('and if that is refused too, the client is told why', async () => {
    const body = await changeTools();
    const asked = gateway.upstream.requests.length;
    const message = 'messages.1.content.0: Invalid `signature` in `thinking` block, says Thunder';
    const refusal = json(400, { type: 'error', error: { type: 'invalid_request_error', message } });
    gateway.upstream.answer(refusal, refusal);
    const response = await post('/v1/chat/completions', body);
    const { error } = Object(await response.json());
    expect([response.status, error.message]).toEqual([
      400,
      'Invalid `signature` in `thinking` block, says svc. This request was charged.',
    ]);
    expect(gateway.upstream.requests.length - asked).toBe(2);
  });

  test('but not for anything else', async () => {
    const body = await changeTools();
    const asked = gateway.upstream.requests.length;
    gateway.upstream.answer(json(400, { error: { message: 'No thinking today.' } }));
    expect((await post('/v1/chat/completions', body)).status).toBe(400);
    expect(gateway.upstream.requests.length - asked).toBe(1);
  });
});

test('reasoning from before a tool search is left out once a tool was found, because that changes the tools', async () => {
  const search = { type: 'tool_search', execution: 'client', description: 'Search.', parameters: { type: 'object' } };
  const input: object[] = [question];
  const ask = async (said: Parameters<typeof says>[0]) => {
    answer(said);
    const response = await post('/v1/responses', {
      include: ['reasoning.encrypted_content'],
      tools: [search, ...tools],
      input,
    });
    expect(response.status).toBe(200);
    const { output } = Object(await response.json());
    input.push(...output);
    return { output, leftOut: response.headers.get('x-svc-left-out') };
  };
  const goOn = (output: { call_id?: string; type: string }[]) => {
    const call = output.at(-1);
    const found = {
      type: 'tool_search_output',
      call_id: call?.call_id,
      execution: 'client',
      tools: [{ type: 'function', ...weather, name: `tool_${input.length}` }],
    };
    const given = { type: 'function_call_output', call_id: call?.call_id, output: 'Sunny' };
    input.push(call?.type === 'tool_search_call' ? found : given);
  };
  const searches = (id: string) => [{ thinking: `Search ${id}.` }, { call: 'tool_search', id, input: { query: 'x' } }];
  const said = [
    [{ thinking: 'First.' }, calls],
    searches('toolu_s1'),
    [{ thinking: 'Found.' }, { ...calls, id: 'toolu_2' }],
    searches('toolu_s2'),
    [{ thinking: 'More.' }, { ...calls, id: 'toolu_3' }],
    [{ thinking: 'Enough.' }, { ...calls, id: 'toolu_4' }],
    [{ text: 'Done.' }],
  ];
  const leftOut: unknown[] = [];
  for (const turn of said) {
    const answered = await ask(turn);
    leftOut.push(answered.leftOut);
    if (turn !== said.at(-1)) goOn(answered.output);
  }
  const [before, after] = ['input[1], input[4]', 'input[1], input[4], input[7], input[10]'];
  expect(leftOut).toEqual([null, null, before, before, after, after, after]);
  const reasoning = asked().body.messages.flatMap(({ content }: { content: { thinking?: string }[] }) =>
    content.flatMap((block) => block.thinking ?? []),
  );
  expect(reasoning).toEqual(['More.', 'Enough.']);
});

describe('an upstream that speaks only messages', () => {
  test('does not get what only a vendor supports, and the client is told so', async () => {
    answer([{ text: 'Hi' }]);
    const body = { messages: [question, { role: 'assistant', content: 'I', reasoning_content: 'Hm.' }, question] };
    const response = await post('/v1/chat/completions', { ...body, seed: 1, reasoning_effort: 'minimal', future: 1 });
    const leftOut = 'messages[1].reasoning_content, seed, reasoning_effort, future';
    expect([response.status, response.headers.get('x-svc-left-out')]).toEqual([200, leftOut]);
    expect(asked().body.output_config).toEqual({ effort: 'low' });
    expect([...response.headers.keys()].filter((name) => name.startsWith('anthropic'))).toEqual([]);
  });

  test('ends with the usage only if that was requested, and with [DONE]', async () => {
    answer([{ text: 'Hi' }]);
    const response = await post('/v1/chat/completions', { stream: true, messages: [question] });
    const text = await response.text();
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
    expect(text).not.toContain('usage');
    expectClean(text);
  });

  test('counts the tokens of the translated request, free of charge', async () => {
    const input = {
      ...{ instructions: 'Be brief.', input: 'Hello', tools: [{ type: 'function', ...weather }], temperature: 0.5 },
      ...{ max_output_tokens: 9, reasoning: { effort: 'high' }, future: 1 },
    };
    gateway.upstream.answer(json(200, { input_tokens: 31 }));
    const response = await post('/v1/responses/input_tokens', input);
    expect([response.status, await response.json()]).toEqual([
      200,
      { object: 'response.input_tokens', input_tokens: 31 },
    ]);
    expect(response.headers.get('x-svc-left-out')).toBe('future');
    const request = gateway.upstream.requests.at(-1);
    expect([request?.path, request?.headers['anthropic-version']]).toEqual(['/v1/messages/count_tokens', '2023-06-01']);
    // More would be refused there.
    expect(JSON.parse(`${request?.body}`)).toEqual({
      model: 'acmecorp/thunder-70b-instruct',
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
      tools: [{ name: 'weather', input_schema: weather.parameters }],
      ...{ thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
    });
    gateway.upstream.answer(empty(404));
    const failed = await post('/v1/responses/input_tokens', input);
    const remaining = response.headers.get('x-svc-remaining');
    expect([failed.status, failed.headers.get('x-svc-remaining')]).toEqual([404, remaining]);
  });

  const begun = eventsOf([{ text: 'Hello' }]).slice(0, 4);
  const spoilt = (...rest: object[]) => toWire([...begun, ...rest]);
  const stop = { type: 'content_block_stop', index: 0 };
  const block = (content_block: object) => ({ type: 'content_block_start', index: 1, content_block });
  const delta = (type: string, more: object) => ({ type: 'content_block_delta', index: 1, delta: { type, ...more } });
  const named = [{ Thunder: ['AcmeCorp'] }];
  const withBlock = (...events: object[]) =>
    spoilt(stop, ...events, { ...stop, index: 1 }, ...eventsOf([{ text: 'Hello' }]).slice(-2));
  testRows([
    ['a message that begins twice', spoilt(begun[0] ?? {})],
    ['a delta of no block', spoilt(stop, { ...begun[3] })],
    ['a block within a block', spoilt({ ...begun[2] })],
    ['no reason for its end', spoilt(stop, { type: 'message_stop' })],
    [
      'a tool of the vendor',
      spoilt(stop, { type: 'content_block_start', index: 1, content_block: { type: 'mcp_tool_use' } }),
    ],
    [
      'a pause',
      spoilt(stop, { type: 'message_delta', delta: { stop_reason: 'pause_turn' } }, { type: 'message_stop' }),
    ],
    ['a text that is none', withBlock(block({ type: 'text', text: '' }), delta('text_delta', { text: named }))],
    ['a block whose text is none', withBlock(block({ type: 'text', text: named }))],
    [
      'reasoning that is not text',
      withBlock(block({ type: 'thinking', thinking: '' }), delta('thinking_delta', { thinking: 5 })),
    ],
    [
      'arguments that are no text',
      withBlock(block({ type: 'tool_use', name: 'f' }), delta('input_json_delta', { partial_json: named })),
    ],
    [
      'arguments of a text',
      withBlock(block({ type: 'text', text: '' }), delta('input_json_delta', { partial_json: '{}' })),
    ],
    ['an error', spoilt({ type: 'error', error: { type: 'overloaded_error', message: 'Busy' } })],
  ])('whose stream is none is refunded', async (_what, wire) => {
    const before = await chargesIn(gateway);
    gateway.upstream.answer(sse(wire));
    const text = await (await post('/v1/chat/completions', { stream: true, messages: [question] })).text();
    expect(text).toMatch(/"error":/);
    expect(text).not.toMatch(/\[DONE\]|thunder|acme/i);
    await waitUntil(async () => (await chargesIn(gateway)) === before, 'the charge is refunded');
  });

  test('whose plain answer has a text that is not a string is refunded', async () => {
    const before = await chargesIn(gateway);
    gateway.upstream.answer(json(200, { ...messageOf([]), content: [{ type: 'text', text: named }] }));
    const response = await post('/v1/chat/completions', { messages: [question] });
    expect([response.status, (await chargesIn(gateway)) - before]).toEqual([502, 0]);
  });

  const misplaced = 'messages.1.content.0.tool_use.id: No result for srvtoolu_01A2b3C4d5, see system.0.';
  testRows<[what: string, script: Script, more: object]>([
    ['refuses', json(400, { type: 'error', error: { type: 'invalid_request_error', message: misplaced } }), {}],
    ['fails at', json(200, { type: 'error', error: { type: 'api_error', message: misplaced } }), {}],
    ['fails at the stream of', sse(toWire([{ type: 'error', error: { message: misplaced } }])), { stream: true }],
    ['breaks off the stream of', sse(spoilt({ type: 'error', error: { message: misplaced } })), { stream: true }],
  ])('fails without revealing places in the translated request', async (_what, script, more) => {
    gateway.upstream.answer(script);
    const text = await (await post('/v1/chat/completions', { messages: [question], ...more })).text();
    expect(text).toContain('"No result for (id removed), see (place removed).');
  });

  test('calls without the vendor’s ids', async () => {
    const ids = ['toolu_bdrk_1', 'srvtoolu_2', 'mcptoolu_vrtx_3'];
    answer(ids.map((id) => ({ ...calls, id })));
    const response = await post('/v1/chat/completions', { messages: [question], tools: [chatTool] });
    const { choices } = Object(await response.json());
    const given = choices[0].message.tool_calls.map(({ id }: { id: string }) => id);
    expect(given).toEqual(['call_1', 'call_2', 'call_3']);
  });

  testRows<[body: object, message: string]>([
    [{ n: 2 }, 'n must be 1'],
    [{ logprobs: true }, 'logprobs is more than this model can do'],
    [{ top_logprobs: 2 }, 'top_logprobs is more'],
    [{ logit_bias: { 1: 2 } }, 'logit_bias is more'],
    [{ presence_penalty: 0.5 }, 'presence_penalty is more'],
    [{ frequency_penalty: -1 }, 'frequency_penalty is more'],
    [{ temperature: 1.2 }, 'temperature must be 1 or less'],
    [{ response_format: { type: 'json_object' } }, 'response_format asks for any JSON'],
    [{ modalities: ['text', 'audio'] }, 'modalities must be ["text"]'],
    [{ audio: { voice: 'a' } }, 'audio is not supported'],
    [{ web_search_options: {} }, "web_search_options is not supported with this model: this model can't search"],
    [{ tools: [{ type: 'custom', custom: { name: 'a' } }] }, 'tools[0] (custom) is of a kind'],
    [{ messages: [question, { role: 'assistant', content: 'I am' }] }, 'The body must end with a message of the user'],
    [{ messages: [{ role: 'user', content: ' ' }] }, 'The body must end with a message of the user'],
    [{ messages: [{ role: 'tool', tool_call_id: 'x', content: '' }] }, 'messages[0] answers x, which no call'],
    [
      { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: '', format: 'wav' } }] }] },
      'messages[0].content[0] is audio',
    ],
    [
      {
        model: 'svc-vision',
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'file:///etc' } }] }],
      },
      'messages[0].content[0] is no image',
    ],
  ])('refuses what can’t be translated', async (body, message) => {
    const before = gateway.upstream.requests.length;
    const response = await post('/v1/chat/completions', { messages: [question], ...body });
    const { error } = (await response.json()) as { error: { message: string } };
    expect([response.status, gateway.upstream.requests.length]).toEqual([400, before]);
    expect(error.message).toContain(message);
  });
});
