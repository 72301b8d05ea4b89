import type { Telling, Turn } from './turn.ts';

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const base = { id: 'chatcmpl-1', created: 1_790_000_000, model: 'acmecorp/thunder-70b-instruct' };

const messageOf = (turn: Turn) =>
  'text' in turn
    ? { content: turn.text }
    : {
        content: null,
        tool_calls: [
          {
            index: 0,
            id: 'call_1',
            type: 'function',
            function: { name: turn.tool, arguments: JSON.stringify(turn.input) },
          },
        ],
      };
const reasonOf = (turn: Turn) => ('text' in turn ? 'stop' : 'tool_calls');

const chunk = (delta: object, finish_reason: string | null = null) => ({
  data: { ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] },
});

export const chat: Telling = {
  toolsOf: ({ tools = [] }) => tools.map(({ function: { name } }: { function: { name: string } }) => name),
  hasResult: ({ messages }) => messages.some(({ role }: { role: string }) => role === 'tool'),
  answer: (turn) => ({
    ...base,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', ...messageOf(turn) }, finish_reason: reasonOf(turn) }],
    usage,
  }),
  stream: (turn) => [
    chunk({ role: 'assistant', content: '' }),
    chunk(messageOf(turn)),
    chunk({}, reasonOf(turn)),
    { data: { ...base, object: 'chat.completion.chunk', choices: [], usage } },
    { data: '[DONE]' },
  ],
};
