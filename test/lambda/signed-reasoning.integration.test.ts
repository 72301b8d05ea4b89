import Anthropic from '@anthropic-ai/sdk';
import { afterAll, describe, expect, test } from '@jest/globals';
import { empty, json, sse } from '../../local/upstream/script.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { startTestGateway } from '../support/gateway.ts';
import { createBindingModel, eventsOf, messageOf, toWire } from '../support/strict-messages.ts';

const environment = { GUEST_LIMIT: '1000', MEMBER_LIMIT: '900', BURST_LIMIT: '600' };
const signing = await startTestGateway({ environment: { ...environment, UPSTREAM_SIGNS_THINKING: 'true' } });
const plain = await startTestGateway({ environment: { ...environment } });
const showing = await startTestGateway({
  environment: { ...environment, UPSTREAM_SIGNS_THINKING: 'true', HIDE_IN_TEXT: 'none' },
});
afterAll(() => Promise.all([signing, plain, showing].map((gateway) => gateway[Symbol.asyncDispose]())));

const question = { role: 'user' as const, content: 'Who?' };
const tools = [{ name: 'weather', input_schema: { type: 'object' as const } }];
const seal = expect.stringMatching(/^svc1\.[\w-]+$/);

type Said = Parameters<ReturnType<typeof createBindingModel>['says']>[0];
// biome-ignore lint/suspicious/noExplicitAny: what was sent is looked at here
type Sent = any;

/** A client that sends back what it got. */
async function openConversation(how: 'stream' | 'plain', gateway = signing) {
  const { says } = createBindingModel();
  const key = await gateway.issueKey();
  const client = new Anthropic({ baseURL: gateway.url, apiKey: key, maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [question];
  return {
    async ask(said: Said) {
      gateway.upstream.answer(says(said));
      const params = { model: 'svc', max_tokens: 9, messages, tools };
      if (how === 'plain') {
        const { data, response } = await client.messages.create(params).withResponse();
        return { content: data.content, leftOut: response.headers.get('x-svc-left-out') };
      }
      const stream = client.messages.stream(params);
      const { content } = await stream.finalMessage();
      return { content, leftOut: stream.response?.headers.get('x-svc-left-out') };
    },
    goOn(content: Sent[]) {
      const results = content.flatMap(({ type, id }) =>
        type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: id, content: 'Sunny' }] : [],
      );
      messages.push(
        { role: 'assistant', content },
        { role: 'user', content: [...results, { type: 'text', text: 'On.' }] },
      );
    },
    /** The assistant's content in the upstream's last request. */
    asked(): Sent[] {
      const { messages: sent } = JSON.parse(`${gateway.upstream.requests.at(-1)?.body}`);
      return sent.filter(({ role }: Sent) => role === 'assistant').map(({ content }: Sent) => content);
    },
  };
}

const reasoningBlock = { thinking: 'I am Thunder.' };
const call = { call: 'weather', id: 'toolu_1', input: { name: 'Thunder' } };
const [, ...afterChange]: Said = [{ text: '' }, { thinking: 'Hm.' }, { redacted: 'blob' }, call];
const blocksOf = (said: Said) => messageOf(said).content;

describe.each(['stream', 'plain'] as const)(
  'an upstream that binds its reasoning, for a messages client: %s',
  (how) => {
    test('gets its own words back for ten turns', async () => {
      const { ask, goOn, asked } = await openConversation(how);
      const said = (turn: number): Said => [
        reasoningBlock,
        { text: `Turn ${turn}.` },
        { redacted: `blob${turn}` },
        { ...call, id: `toolu_${turn}` },
      ];
      for (let turn = 1; turn <= 10; turn += 1) {
        const { content, leftOut } = await ask(said(turn));
        expect([content, leftOut]).toEqual([blocksOf(said(turn)), null]);
        goOn(content);
      }
      await ask([{ text: 'Done.' }]);
      expect(asked()).toEqual(Array.from({ length: 10 }, (_, index) => blocksOf(said(index + 1))));
    });

    const [named] = blocksOf([{ text: 'I am svc.' }]);
    test.each<[string, Said, Sent[]]>([
      ['a name in a text', [reasoningBlock, { text: 'I am Thunder.' }], [...blocksOf([reasoningBlock]), named]],
      ['a name at the end of a text', [{ text: 'I am Thunder' }], blocksOf([{ text: 'I am svc' }])],
      ['a name in the id of a call', [{ ...call, id: 'toolu_thunder_0' }], blocksOf([{ ...call, id: 'toolu_svc_0' }])],
    ])('gets no reasoning back that followed a change in the same answer: %s', async (_, said, shown) => {
      const { ask, goOn, asked } = await openConversation(how);
      const { content } = await ask([...said, ...afterChange]);
      const [first, second, third] = blocksOf(afterChange);
      expect(content).toEqual([...shown, { ...first, signature: seal }, { ...second, data: seal }, third]);
      goOn(content);
      const places = [shown.length, shown.length + 1].map((at) => `messages[1].content[${at}]`).join(', ');
      const next: Said = [reasoningBlock, { text: 'And on.' }, { ...call, id: 'toolu_2' }];
      for (const kept of [[], [blocksOf(next)], [blocksOf(next), blocksOf(next)]]) {
        const answer = await ask(
          next.map((one) => ({ ...one, ...('id' in one && { id: `toolu_${kept.length + 2}` }) })),
        );
        expect([answer.leftOut, asked()[0]]).toEqual([places, [...shown, third]]);
        expect(asked().length).toBe(kept.length + 1);
        expect(Object(answer.content[0])).toEqual(blocksOf([reasoningBlock])[0]);
        goOn(answer.content);
      }
    });

    test('is passed through if names in texts are not hidden', async () => {
      const { ask, goOn, asked } = await openConversation(how, showing);
      const said: Said = [{ text: 'I am Thunder.' }, ...afterChange];
      const { content } = await ask(said);
      expect(content).toEqual(blocksOf(said));
      goOn(content);
      expect((await ask([{ text: 'Done.' }])).leftOut).toBeNull();
      expect(asked()).toEqual([blocksOf(said)]);
    });

    test('refuses in its own words, without names, if its operator did not set that it signs', async () => {
      const { ask, goOn } = await openConversation(how, plain);
      const { content } = await ask([{ text: 'I am Thunder.' }, ...afterChange]);
      expect(content).toEqual(blocksOf([{ text: 'I am svc.' }, ...afterChange]));
      goOn(content);
      const refusal = expect.stringMatching(
        /messages\.1\.content\.1: .* The block is bound to a different conversation\./,
      );
      await expect(ask([{ text: 'Done.' }])).rejects.toMatchObject({
        status: 400,
        error: { error: { message: refusal } },
      });
    });
  },
);

describe('a change outside texts makes later reasoning void', () => {
  const cited = { type: 'char_location', cited_text: 'Thunder', document_index: 0, document_title: null };
  const result = { type: 'web_search_result', url: 'https://acme.example', title: 'Acme', encrypted_content: 'x' };
  const [later] = blocksOf([{ thinking: 'Hm.' }]);
  const [said] = blocksOf([{ text: 'Hi.' }]);
  test.each<[string, Sent]>([
    ['a citation', { ...said, citations: [cited] }],
    ['a tool’s result', { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [result] }],
  ])('%s', async (_, block) => {
    const post = async (stream: boolean, body: Parameters<typeof signing.upstream.answer>[0]) => {
      signing.upstream.answer(body);
      const sent = { model: 'svc', max_tokens: 9, stream, messages: [question] };
      return (await signing.post('/v1/messages', sent, { 'x-api-key': await signing.issueKey() })).text();
    };
    const content = [block, later];
    const whole = JSON.parse(await post(false, json(200, { ...messageOf([]), content })));
    expect(whole.content).toEqual([expect.anything(), { ...later, signature: seal }]);
    const [start, ping] = eventsOf([]);
    const events = [
      { type: 'content_block_start', index: 0, content_block: { ...block, citations: undefined } },
      ...(block.citations
        ? [{ type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: cited } }]
        : []),
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { ...later, thinking: '', signature: '' } },
      ...['abc', 'def'].map((signature) => ({
        type: 'content_block_delta',
        index: 1,
        delta: { type: 'signature_delta', signature },
      })),
      { type: 'content_block_stop', index: 1 },
    ];
    const text = await post(true, sse(toWire([start ?? {}, ping ?? {}, ...events, ...eventsOf([]).slice(-2)])));
    // A signature that is streamed in pieces is one seal.
    const signatures = [...text.matchAll(/"signature_delta","signature":"([^"]*)"/g)].map(([, one]) => one);
    expect(signatures).toEqual([seal, '']);
    expect(text).not.toMatch(/thunder|acme/i);
  });
});

test('whether reasoning is signed is a setting of each upstream', async () => {
  await using second = await startFakeUpstream();
  await using gateway = await startTestGateway({
    environment: {
      ...environment,
      ...{ UPSTREAM_2_BASE_URL: second.url, UPSTREAM_2_TEXT_MODEL: 'm', UPSTREAM_2_VISION_MODEL: 'm' },
      ...{ UPSTREAM_2_API_KEYS: 'upstream-key-two', UPSTREAM_2_SIGNS_THINKING: 'true' },
    },
  });
  const said = json(200, messageOf([{ thinking: 'I am Thunder.' }]));
  gateway.upstream.answer(said, empty(500));
  second.answer(said);
  const key = await gateway.issueKey();
  const shown: string[] = [];
  for (const _ of [1, 2]) {
    const body = { model: 'svc', max_tokens: 9, messages: [question] };
    const response = await gateway.post('/v1/messages', body, { 'x-api-key': key });
    shown.push(Object(await response.json()).content[0].thinking);
  }
  expect(shown).toEqual(['I am svc.', 'I am Thunder.']);
});
