import { afterAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { json, sse } from '../../local/upstream/script.ts';
import type { Answer } from '../support/fake-upstream.ts';
import { startTestGateway } from '../support/gateway.ts';
import { strictly } from '../support/message-rules.ts';
import { eventsOf, messageOf, toWire } from '../support/strict-messages.ts';

// biome-ignore lint/suspicious/noExplicitAny: what was sent is looked at here
type Sent = any;

/** All blocks of a prompt in caching order, without their cache marks, and whether each is marked. */
function blocksOf({
  tools = [],
  system = [],
  messages,
}: Sent): { readonly text: string; readonly isMarked: boolean }[] {
  const said = messages.flatMap(({ role, content }: Sent) => content.map((block: Sent) => ({ role, ...block })));
  return [...tools, ...system, ...said].map(({ cache_control: mark, ...block }) => ({
    ...{ text: JSON.stringify(block), isMarked: mark?.type === 'ephemeral' },
  }));
}

/** An upstream that caches prompts up to the marked blocks. Each block counts as a token. */
function caching(): Answer {
  const cached = new Set<string>();
  return strictly(({ body: bytes }) => {
    const body = JSON.parse(`${bytes}`);
    const blocks = blocksOf(body);
    const prefixes = blocks.map((_, index) =>
      blocks
        .slice(0, index + 1)
        .map(({ text }) => text)
        .join(),
    );
    const read = prefixes.findLastIndex((prefix) => cached.has(prefix)) + 1;
    const upTo = blocks.findLastIndex(({ isMarked }) => isMarked) + 1;
    for (const [index, { isMarked }] of blocks.entries()) if (isMarked) cached.add(prefixes[index] ?? '');
    const usage = {
      ...{ input_tokens: blocks.length - Math.max(read, upTo), output_tokens: 5 },
      ...{ cache_read_input_tokens: read, cache_creation_input_tokens: Math.max(upTo - read, 0) },
    };
    const said = [{ text: 'Hi' }];
    if (!body.stream) return json(200, { ...messageOf(said), usage });
    const [begin, ...rest] = eventsOf(said);
    return sse(toWire([{ ...begin, message: { ...Object(begin).message, usage } }, ...rest]));
  });
}

const gateway = await startTestGateway({
  environment: {
    ...{ GUEST_LIMIT: '1000', MEMBER_LIMIT: '900', BURST_LIMIT: '600' },
    ...{ UPSTREAM_DIALECTS: 'messages', UPSTREAM_OUTPUT_LIMIT: '9', UPSTREAM_CACHE_MARKS: 'true' },
  },
});
const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: await gateway.issueKey(), maxRetries: 0 });
afterAll(() => gateway[Symbol.asyncDispose]());

/** How many blocks of the last request are marked. */
const marksAsked = () =>
  blocksOf(JSON.parse(`${gateway.upstream.requests.at(-1)?.body}`)).filter(({ isMarked }) => isMarked).length;

const f = { name: 'f', parameters: { type: 'object' } };
const user = (text: string) => ({ role: 'user' as const, content: text });
const assistant = (text: string) => ({ role: 'assistant' as const, content: text });
const system = { role: 'system' as const, content: 'Be brief.' };
/** A tool, the instructions and the question; then the answer and two more questions. */
const turns = [
  [user('a')],
  [user('a'), assistant('Hi'), user('b')],
  [user('a'), assistant('Hi'), user('b'), assistant('Hi'), user('c')],
];
/** Each turn hits the cache up to the previous turn's mark. */
const hits = [
  { prompt: 3, cached: 0, written: 3 },
  { prompt: 5, cached: 3, written: 2 },
  { prompt: 7, cached: 5, written: 2 },
];

describe.each(['plain', 'stream'])('the usage of an upstream that caches by cache marks, %s', (how) => {
  test('shows its hits to chat clients', async () => {
    gateway.upstream.otherwise(caching());
    const usages = [];
    for (const messages of turns) {
      const body = {
        model: 'svc',
        messages: [system, ...messages],
        tools: [{ type: 'function' as const, function: f }],
      };
      const streaming = { ...body, stream_options: { include_usage: true } };
      const { usage } =
        how === 'plain'
          ? await openai.chat.completions.create(body)
          : await openai.chat.completions.stream(streaming).finalChatCompletion();
      const { cached_tokens: cached, cache_write_tokens: written } = Object(usage?.prompt_tokens_details);
      usages.push({ prompt: usage?.prompt_tokens, cached, written });
      expect(marksAsked()).toBe(3);
    }
    expect(usages).toEqual(hits);
  });

  test('shows its hits to responses clients', async () => {
    gateway.upstream.otherwise(caching());
    const usages = [];
    for (const input of turns) {
      const tools = [{ type: 'function' as const, strict: false, ...f }];
      const body = { model: 'svc', instructions: 'Be brief.', input, tools };
      const { usage } =
        how === 'plain' ? await openai.responses.create(body) : await openai.responses.stream(body).finalResponse();
      const { cached_tokens: cached, cache_write_tokens: written } = Object(usage?.input_tokens_details);
      usages.push({ prompt: usage?.input_tokens, cached, written });
    }
    expect(usages).toEqual(hits);
  });
});

test('a client’s own cache marks are kept, and it gets their hits', async () => {
  gateway.upstream.otherwise(caching());
  const content = [{ type: 'text' as const, text: 'a', cache_control: { type: 'ephemeral' } }];
  const usages = [];
  for (const question of ['b', 'c']) {
    const messages = [system, { role: 'user' as const, content }, user(question)];
    const tools = [{ type: 'function' as const, function: f }];
    const { usage } = await openai.chat.completions.create({ model: 'svc', messages, tools });
    usages.push(usage?.prompt_tokens_details);
    expect(marksAsked()).toBe(1);
  }
  expect(usages).toMatchObject([
    { cached_tokens: 0, cache_write_tokens: 3 },
    { cached_tokens: 3, cache_write_tokens: 0 },
  ]);
});
