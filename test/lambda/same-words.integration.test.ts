import Anthropic from '@anthropic-ai/sdk';
import { afterAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { json, sse } from '../../local/upstream/script.ts';
import type { Answer } from '../support/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import fc, { many } from '../support/properties.ts';
import { createBindingModel } from '../support/strict-messages.ts';

const limits = { GUEST_LIMIT: '1000', MEMBER_LIMIT: '900000', BURST_LIMIT: '10000' };
const signs = { UPSTREAM_SIGNS_THINKING: 'true', UPSTREAM_OUTPUT_LIMIT: '4096' };
const gateways: Readonly<Record<string, TestGateway>> = {
  messages: await startTestGateway({ environment: { ...limits, ...signs, UPSTREAM_DIALECTS: 'messages' } }),
  chat: await startTestGateway({ environment: { ...limits, UPSTREAM_DIALECTS: 'chat' } }),
};
afterAll(() => Promise.all(Object.values(gateways).map((gateway) => gateway[Symbol.asyncDispose]())));

// biome-ignore lint/suspicious/noExplicitAny: what was sent is looked at here
type Sent = any;
type Said = Parameters<ReturnType<typeof createBindingModel>['says']>[0];

/** One turn of a model, and how its client asks for it. */
interface Turn {
  readonly said: Said;
  readonly stream: boolean;
}

const tool = { name: 'weather', parameters: { type: 'object', properties: { name: { type: 'string' } } } };

/** A client that sends back what it got, with a result for each tool call. */
interface Client {
  ask(history: readonly Sent[], stream: boolean): Promise<Sent[]>;
  result(id: string): object;
  say(text: string): object;
  callsIn(got: readonly Sent[]): readonly string[];
  /** Wraps results that belong into one message of the client. */
  wrap(results: readonly object[]): readonly object[];
}

const flat = (results: readonly object[]) => results;
const createClients: Readonly<Record<string, (url: string, apiKey: string) => Client>> = {
  chat(url, apiKey) {
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
    return {
      async ask(messages, stream) {
        const params: Sent = { model: 'svc', messages, tools: [{ type: 'function', function: tool }] };
        const { choices } = stream
          ? await openai.chat.completions.stream(params).finalChatCompletion()
          : await openai.chat.completions.create(params);
        const [choice] = choices;
        return choice ? [choice.message] : [];
      },
      result: (id) => ({ role: 'tool', tool_call_id: id, content: 'Sunny' }),
      say: (content) => ({ role: 'user', content }),
      callsIn: (got) => got.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }: Sent) => id)),
      wrap: flat,
    };
  },
  responses(url, apiKey) {
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
    return {
      async ask(input, stream) {
        const include = ['reasoning.encrypted_content'];
        const params: Sent = { model: 'svc', include, input, tools: [{ type: 'function', strict: false, ...tool }] };
        const { output } = stream
          ? await openai.responses.stream(params).finalResponse()
          : await openai.responses.create(params);
        return JSON.parse(JSON.stringify(output), (name, value) => (name === 'parsed_arguments' ? undefined : value));
      },
      result: (call_id) => ({ type: 'function_call_output', call_id, output: 'Sunny' }),
      say: (content) => ({ role: 'user', content }),
      callsIn: (got) => got.flatMap(({ type, call_id }) => (type === 'function_call' ? [call_id] : [])),
      wrap: flat,
    };
  },
  messages(url, apiKey) {
    const anthropic = new Anthropic({ baseURL: url, apiKey, maxRetries: 0 });
    return {
      async ask(messages, stream) {
        const tools = [{ name: tool.name, input_schema: tool.parameters }];
        const params: Sent = { model: 'svc', max_tokens: 999, messages, tools, thinking: { type: 'adaptive' } };
        const { content } = stream
          ? await anthropic.messages.stream(params).finalMessage()
          : await anthropic.messages.create(params);
        return [{ role: 'assistant', content }];
      },
      result: (id) => ({ type: 'tool_result', tool_use_id: id, content: 'Sunny' }),
      say: (content) => ({ role: 'user', content }),
      callsIn: (got) =>
        got.flatMap(({ content }) => content.flatMap(({ type, id }: Sent) => (type === 'tool_use' ? [id] : []))),
      wrap: (results) => (results.length > 0 ? [{ role: 'user', content: results }] : []),
    };
  },
};

/** The same from a chat completions server. */
const inChat =
  (said: Said): Answer =>
  ({ body }) => {
    const reasoning_content = said.flatMap(({ thinking }) => thinking ?? []).join('\n');
    const tool_calls = said.flatMap(({ call, id, input }, index) =>
      call ? [{ index, id, type: 'function', function: { name: call, arguments: JSON.stringify(input) } }] : [],
    );
    const content = said.flatMap(({ text }) => text ?? []).join('');
    const message = { role: 'assistant', content, reasoning_content, ...(tool_calls.length > 0 && { tool_calls }) };
    const finish_reason = tool_calls.length > 0 ? 'tool_calls' : 'stop';
    const answer = { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm' };
    if (!JSON.parse(`${body}`).stream) {
      return json(200, { ...answer, choices: [{ index: 0, message, finish_reason }] });
    }
    const numbered = tool_calls.map((one, index) => ({ ...one, index }));
    const deltas = [{ role: 'assistant', reasoning_content }, { content }, { tool_calls: numbered }];
    const chunks = [
      ...deltas.map((delta) => ({ index: 0, delta, finish_reason: null })),
      { index: 0, delta: {}, finish_reason },
    ];
    const events = chunks.map(
      (choice) => `data: ${JSON.stringify({ ...answer, object: 'chat.completion.chunk', choices: [choice] })}\n\n`,
    );
    return sse(`${events.join('')}data: [DONE]\n\n`);
  };

/** How many attempts a turn may take where the client's dialect can't express the order of what was said. */
type Tries = 1 | 2;

const isReasoning = ({ type }: Sent): boolean => /thinking$/.test(type);

/**
 * Runs the turns, and fails unless each is answered after this many attempts, and its request starts with the words of the
 * previous one.
 */
async function talk(clientName: string, upstreamName: string, turns: readonly Turn[], tries: Tries = 1): Promise<void> {
  const gateway = gateways[upstreamName] as TestGateway;
  const client = (createClients[clientName] as (typeof createClients)[string])(gateway.url, await gateway.issueKey());
  const { says } = createBindingModel();
  const history: Sent[] = [client.say('Who is Thunder?')];
  let before: Sent[] = [];
  for (const [turn, { said, stream }] of turns.entries()) {
    const calls = said.map((one) => ('call' in one ? { ...one, id: `${one.id}${turn}` } : one));
    const asked = gateway.upstream.requests.length;
    gateway.upstream.otherwise(upstreamName === 'chat' ? inChat(calls) : says(calls));
    const got = await client.ask(history, stream);
    expect(gateway.upstream.requests.length - asked).toBeLessThanOrEqual(tries);
    const body = JSON.parse(`${gateway.upstream.requests.at(-1)?.body}`);
    const withoutReasoning = ({ content, ...message }: Sent) => ({
      ...message,
      content: content.filter((one: Sent) => !isReasoning(one)),
    });
    const messages = tries === 1 ? body.messages : body.messages.map(withoutReasoning);
    expect(messages.slice(0, before.length)).toEqual(before);
    before = messages;
    const results = client.callsIn(got).map(client.result);
    history.push(...got, ...client.wrap(results), ...(results.length > 0 ? [] : [client.say(`Go on, ${turn}.`)]));
  }
}

/** Most without a name: after the first one, no reasoning of an answer comes back. */
const words = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('Hi', '🌩 "é"\n', 'Yes.', 'No.') },
  fc.constantFrom('I am Thunder', 'of AcmeCorp', 'Thun', 'der, thunder.'),
);
const text = fc.array(words, { minLength: 1, maxLength: 2 }).map((parts) => parts.join(' '));
const one = fc.oneof(
  { weight: 3, arbitrary: text.map((thinking) => ({ thinking })) },
  fc.constantFrom({ redacted: 'blob' }, { redacted: 'Thunder' }),
  { weight: 3, arbitrary: text.map((said) => ({ text: said })) },
  {
    weight: 3,
    arbitrary: fc.record({
      call: fc.constantFrom('weather', 'thunder_tool'),
      input: text.map((name) => ({ name })),
      id: fc.constantFrom('toolu_', 'toolu_bdrk_', 'toolu_thunder_', 'call_', 'x'),
    }),
  },
);

/** As models answer: tool calls have their own ids, and an answer has text or a call. */
const saying = fc
  .array(one, { minLength: 1, maxLength: 6, size: 'max' })
  .map((said): Said => said.map((part, at) => ('call' in part ? { ...part, id: `${part.id}${at}_` } : part)))
  .map((said) => (said.some((part) => 'call' in part || 'text' in part) ? said : [...said, { text: 'Hm.' }]));
const turn: fc.Arbitrary<Turn> = fc.record({ said: saying, stream: fc.boolean() });
/** None is short, as fast-check would draw many: each turn proves something only by the next one. */
const conversationOf = (turns: fc.Arbitrary<Turn>) => fc.noBias(fc.array(turns, { minLength: 6, maxLength: 6 }));

/** Chat has one text, before all calls: reasoning that preceded a later text comes back in another place. */
const isTextFirst = ({ said }: Turn): boolean => {
  const texts = said.flatMap((part, at) => ('text' in part ? [at] : []));
  const end = texts.at(-1) ?? 0;
  return said.every((part, at) => at >= end || 'text' in part || (at < (texts[0] ?? 0) && !('call' in part)));
};

test.each<[what: string, clientName: string, said: Said, tries: Tries]>([
  [
    'a name at the end of a text, which is found only after the reasoning',
    'chat',
    [{ text: 'of AcmeCorp' }, { thinking: 'Hm.' }, { call: 'weather', input: {}, id: 'toolu_1' }],
    1,
  ],
  [
    'two texts that a client reads as one',
    'responses',
    [{ text: 'Hi' }, { text: 'Yes.' }, { thinking: 'Hm.' }, { call: 'weather', input: {}, id: 'toolu_1' }],
    1,
  ],
  [
    'a text after a call, for which chat has no place',
    'chat',
    [
      { call: 'weather', input: {}, id: 'toolu_1' },
      { thinking: 'Hm.' },
      { text: 'Hi' },
      { call: 'weather', input: {}, id: 'toolu_2' },
    ],
    2,
  ],
  [
    'several pieces of reasoning, one of which nobody may read',
    'responses',
    [
      ...[{ thinking: 'Hm.' }, { thinking: 'Well.' }, { redacted: 'blob' }, { thinking: 'So.' }],
      ...[{ text: 'Hi' }, { call: 'weather', input: {}, id: 'toolu_1' }],
    ],
    1,
  ],
  [
    'reasoning after a text with a name',
    'messages',
    [{ text: 'I am Thunder.' }, { thinking: 'Hm.' }, { text: 'Hi' }],
    1,
  ],
])('the same words are sent again after %s', (_, clientName, said, tries) => {
  const turns = [
    { said, stream: true },
    { said: [{ text: 'Hm.' }], stream: false },
  ];
  return talk(clientName, 'messages', turns, tries);
});

describe.each(['messages', 'chat'])('at an upstream of %s', (upstreamName) => {
  test.each(['chat', 'responses', 'messages'])(
    'the same history is sent in the same words, for clients of %s',
    async (clientName) => {
      const talked = clientName === 'chat' ? turn.filter(isTextFirst) : turn;
      await fc.assert(
        fc.asyncProperty(conversationOf(talked), (turns) => talk(clientName, upstreamName, turns)),
        { numRuns: many(upstreamName === 'chat' ? 2 : 4) },
      );
    },
  );
});

test('where a chat client can’t keep the order, its history is the same without reasoning', () =>
  fc.assert(
    fc.asyncProperty(conversationOf(turn), (turns) => talk('chat', 'messages', turns, 2)),
    { numRuns: many(2) },
  ));
