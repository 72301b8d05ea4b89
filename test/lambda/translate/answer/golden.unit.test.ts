import { expect, test } from '@jest/globals';
import { begin, call, chunk, end, more, say, think, tokens, usageOf } from './cases/case.ts';
import { bytesOf, clients, translateStream } from './translated.ts';

const tools = {
  apply_patch: { kind: 'custom', name: 'apply_patch' },
  files__read: { kind: 'function', name: 'read', namespace: 'files' },
  find_tools: { kind: 'tool_search', name: 'find_tools' },
} as const;
const likely = { token: 'Hi', logprob: -0.1, bytes: null, top_logprobs: [] };
const details = { prompt_tokens_details: { cached_tokens: 5 }, completion_tokens_details: { reasoning_tokens: 3 } };

/** An answer that holds one of each. Its events are valid by the documents of OpenAI, Open Responses (2026-04-24) and Anthropic. */
const chunks = [
  ...[think('Hm,'), think(' so.'), say('Hello'), say(' there.')],
  chunk({ content: 'Hi' }, { logprobs: { content: [likely] } }),
  chunk({ refusal: 'No.' }),
  ...[begin('call_a', 0, 'files__read'), more('{"a"'), more(':1}')],
  begin('call_b', 1, 'apply_patch', '{"input":"*** Begin"}'),
  begin('call_c', 2, 'find_tools', '{"query":"x"}'),
  call({ index: 3, id: 'call_d', name: 'clock' }),
  ...[end('tool_calls'), usageOf({ ...tokens, ...details })],
];

test.each(clients)('a stream of %s has every event in its whole form', (client) => {
  const setup = { tools, wantsSeal: true, seal: (thought: string) => `sealed: ${thought}` };
  expect(translateStream(client, bytesOf({ chunks }), setup).output).toMatchSnapshot();
});
