import Anthropic from '@anthropic-ai/sdk';
import { afterAll, expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { startTestGateway } from '../support/gateway.ts';
import { wire } from '../support/wire.ts';

const gateway = await startTestGateway({
  environment: { UPSTREAM_DIALECTS: 'chat', UPSTREAM_REASONING: 'reasoning_effort' },
});
gateway.upstream.otherwise(json(200, wire.chat.answer));
const client = new Anthropic({ baseURL: gateway.url, apiKey: await gateway.issueKey(), maxRetries: 0 });
afterAll(() => gateway[Symbol.asyncDispose]());

test('an upstream of chat gets the tools and effort that a conversation has at its end', async () => {
  const tool = (name: string) => ({ name, input_schema: { type: 'object' as const } });
  const named = (name: string) => ({ type: 'tool_reference' as const, name });
  const user = { role: 'user' as const, content: 'Hello' };
  const { data, response } = await client.beta.messages
    .create({
      ...{ model: 'svc', max_tokens: 9, thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
      betas: ['mid-conversation-tool-changes-2026-07-01', 'inline-tools-2026-09-15'],
      tools: [tool('fetch'), { ...tool('paint'), defer_loading: true }],
      messages: [
        user,
        { role: 'assistant', content: 'Hi' },
        { role: 'system', content: [{ type: 'tool_removal', tool: named('fetch') }] },
        {
          role: 'system',
          content: [{ type: 'tool_addition', tool: named('paint') }],
          output_config: { effort: 'medium' },
        },
        user,
        {
          role: 'system',
          content: [{ type: 'tool_addition', tool: { type: 'tool_definition', definition: tool('sing') } }],
        },
        { role: 'system', content: [], output_config: { effort: 'high' } },
      ],
    })
    .withResponse();
  expect([data.type, response.headers.get('x-svc-left-out')]).toEqual(['message', null]);
  const { messages, tools, reasoning_effort } = JSON.parse(`${gateway.upstream.requests.at(-1)?.body}`);
  expect(messages).toEqual([user, { role: 'assistant', content: 'Hi' }, user]);
  expect(tools.map((one: { function: { name: string } }) => one.function.name)).toEqual(['paint', 'sing']);
  expect(reasoning_effort).toBe('high');
});
