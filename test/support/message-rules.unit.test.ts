import { expect, test } from '@jest/globals';
import { createBinding, faultsIn, faultsOf } from './message-rules.ts';
import { messageOf } from './strict-messages.ts';

const text = (words: string) => ({ type: 'text', text: words });
const { content: called } = messageOf([{ thinking: 'Hm.' }, { call: 'f', id: 'a' }]);
const result = { type: 'tool_result', tool_use_id: 'a', content: [text('Sunny')] };
const good = {
  model: 'm',
  max_tokens: 9,
  system: 'Be brief.',
  thinking: { type: 'adaptive' },
  tools: [{ name: 'f', input_schema: { type: 'object' } }],
  messages: [
    { role: 'user', content: 'Who?' },
    { role: 'assistant', content: called },
    { role: 'user', content: [result, text('Well?')] },
  ],
};
const [asked, answered, last] = good.messages;
const [reasoningBlock, call] = called;
const mark = { cache_control: { type: 'ephemeral' } };

test('a good request has no fault', () => {
  expect(faultsOf(good)).toEqual([]);
});

test.each<[string, object]>([
  ['max_tokens is needed', { max_tokens: undefined }],
  ['the body has logprobs', { logprobs: true }],
  ['temperature is more than 1', { temperature: 2, thinking: undefined }],
  ['thinking with a temperature', { temperature: 0.5 }],
  ['thinking with a low top_p', { top_p: 0.9 }],
  ['thinking with a top_k', { top_k: 3 }],
  ['thinking with a forced call', { tool_choice: { type: 'any' } }],
  ['no tool is called g', { tool_choice: { type: 'tool', name: 'g' }, thinking: undefined }],
  ['a choice without tools', { tools: [], tool_choice: { type: 'auto' } }],
  ['two tools have one name', { tools: [...good.tools, ...good.tools] }],
  ['a tool is called f.g', { tools: [{ ...good.tools[0], name: 'f.g' }] }],
  ['the schema of f is no object', { tools: [{ name: 'f', input_schema: {} }] }],
  ['system has an empty text', { system: [text(' ')] }],
  [
    '6 cache marks',
    {
      tools: [{ ...good.tools[0], ...mark }],
      system: [{ ...text('a'), ...mark }],
      messages: [
        { ...asked, content: [{ ...text('a'), ...mark }] },
        { ...answered, content: [reasoningBlock, { ...call, ...mark }] },
        { ...last, content: [{ ...result, ...mark, content: [{ ...text('a'), ...mark }] }] },
      ],
    },
  ],
  ['a cache mark of type forever', { system: [{ ...text('a'), cache_control: { type: 'forever' } }] }],
  ['message 1 is of system', { messages: [asked, { role: 'system', content: 'Hush.' }, asked] }],
  ['the first message is not the user’s', { messages: [answered, last] }],
  ['the last message begins the answer', { messages: [asked, { role: 'assistant', content: 'I' }] }],
  [
    'message 2 is a second one of the assistant',
    { messages: [asked, ...['a', 'b'].map((content) => ({ role: 'assistant', content })), asked] },
  ],
  ['message 2 answers [], called was [a]', { messages: [asked, answered, asked] }],
  ['message 0 answers [a], called was []', { messages: [last] }],
  ['message 2 has results last', { messages: [asked, answered, { role: 'user', content: [text('b'), result] }] }],
  ['two calls have one id', { messages: [asked, answered, last, answered, last] }],
  ['message 0 is empty', { messages: [{ role: 'user', content: [] }] }],
  ['message 0 has an empty text', { messages: [{ role: 'user', content: '' }] }],
  ['message 0: text has annotations', { messages: [{ role: 'user', content: [{ ...text('a'), annotations: [] }] }] }],
  ['message 0: thinking of user', { messages: [{ role: 'user', content: [reasoningBlock] }] }],
  [
    'message 1: a wrong signature',
    { messages: [asked, { ...answered, content: [{ ...reasoningBlock, thinking: 'Hm' }, call] }, last] },
  ],
  ['message 1 ends with reasoning', { messages: [asked, { ...answered, content: [reasoningBlock] }, asked] }],
  ['message 1: reasoning, but thinking is off', { thinking: { type: 'disabled' } }],
  ['message 1: an id a.b', { messages: [asked, { ...answered, content: [{ ...call, id: 'a.b' }] }, last] }],
  [
    'message 1: an input that is no object',
    { messages: [asked, { ...answered, content: [{ ...call, input: [] }] }, last] },
  ],
  [
    'message 2: a result with thinking',
    { messages: [asked, answered, { role: 'user', content: [{ ...result, content: [reasoningBlock] }] }] },
  ],
])('refused: %s', (fault, change) => {
  expect(faultsOf({ ...good, ...change })).toContain(fault);
});

const sent = (path: string, body: object, headers = {}) => ({ path, headers, body: Buffer.from(JSON.stringify(body)) });

test('only messages and counts of their tokens are asked for', () => {
  expect(faultsIn(sent('/v1/messages?beta=true', good))).toEqual([]);
  expect(faultsIn(sent('/v1/messages/count_tokens', {}))).toEqual([]);
  expect(faultsIn(sent('/v1/responses', good))).toEqual(['/v1/responses was asked']);
});

test('the vendor’s own clients may send instructions later, but not first', () => {
  const [instruction, headers] = [{ role: 'system', content: 'Hush.' }, { 'anthropic-beta': 'any' }];
  const later = { ...good, messages: [...good.messages, instruction] };
  expect(faultsIn(sent('/v1/messages', later, headers))).toEqual([]);
  expect(faultsIn(sent('/v1/messages', later))).toContain('message 3 is of system');
  const first = { ...good, messages: [instruction, ...good.messages] };
  expect(faultsIn(sent('/v1/messages', first, headers))).toContain('message 0 is of system');
});

test('bound reasoning is accepted only where it was', () => {
  const binding = createBinding();
  const said = [reasoningBlock, text('Let me see.'), { type: 'redacted_thinking', data: 'blob' }, call];
  const before = { ...good, messages: [asked] };
  binding.bind(before, said);
  const refused = (change: object, content: unknown[] = said) =>
    binding.faultIn({ ...good, messages: [asked, { role: 'assistant', content }, last], ...change });
  expect(refused({})).toBeUndefined();
  expect(refused({ system: [{ ...text('Be brief.'), ...mark }] })).toBeUndefined();
  const [first, second, third, fourth] = said;
  for (const fault of [
    refused({ system: 'Be long.' }),
    refused({ tools: [] }),
    refused({ messages: [last, { role: 'assistant', content: said }, last] }),
    refused({}, [first, text('Let me look.'), third, fourth]),
    refused({}, [second, third, fourth]),
    refused({}, [first, third, second, fourth]),
  ]) {
    expect(fault).toContain('bound to a different conversation');
  }
});
