import type { Telling, Turn } from './turn.ts';

const base = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_790_000_000,
  model: 'acmecorp/thunder-70b-instruct',
  error: null,
  incomplete_details: null,
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
};
const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15,
};

const itemOf = (turn: Turn) =>
  'text' in turn
    ? {
        id: 'msg_1',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: turn.text, annotations: [] }],
      }
    : {
        id: 'fc_1',
        type: 'function_call',
        status: 'completed',
        call_id: 'call_1',
        name: turn.tool,
        arguments: JSON.stringify(turn.input),
      };

function deltasOf(turn: Turn): object[] {
  if (!('text' in turn)) {
    const text = JSON.stringify(turn.input);
    return [
      { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 0, delta: text },
      { type: 'response.function_call_arguments.done', item_id: 'fc_1', output_index: 0, arguments: text },
    ];
  }
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const part = { type: 'output_text', text: turn.text, annotations: [] };
  return [
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...place, delta: turn.text },
    { type: 'response.output_text.done', ...place, text: turn.text },
    { type: 'response.content_part.done', ...place, part },
  ];
}

export const responses: Telling = {
  toolsOf: ({ tools = [] }) => tools.flatMap(({ name }: { name?: string }) => name ?? []),
  hasResult: ({ input }) =>
    Array.isArray(input) && input.some(({ type }: { type?: string }) => type === 'function_call_output'),
  answer: (turn) => ({ ...base, status: 'completed', output: [itemOf(turn)], usage }),
  stream: (turn) => {
    const item = itemOf(turn);
    const opened = 'text' in turn ? { ...item, content: [] } : { ...item, arguments: '' };
    return [
      { type: 'response.created', response: { ...base, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { ...opened, status: 'in_progress' } },
      ...deltasOf(turn),
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { ...base, status: 'completed', output: [item], usage } },
    ].map((data, sequence_number) => ({ event: (data as { type: string }).type, data: { ...data, sequence_number } }));
  },
};
