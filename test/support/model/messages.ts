import type { Telling, Turn } from './turn.ts';

const base = { id: 'msg_1', type: 'message', role: 'assistant', model: 'acmecorp/thunder-70b-instruct' };
const usage = { input_tokens: 10, output_tokens: 5 };

const blockOf = (turn: Turn) =>
  'text' in turn
    ? { type: 'text', text: turn.text }
    : { type: 'tool_use', id: 'toolu_1', name: turn.tool, input: turn.input };
const reasonOf = (turn: Turn) => ('text' in turn ? 'end_turn' : 'tool_use');

const event = (data: { type: string }) => ({ event: data.type, data });

export const messages: Telling = {
  toolsOf: ({ tools = [] }) => tools.map(({ name }: { name: string }) => name),
  hasResult: (body) => JSON.stringify(body.messages).includes('"type":"tool_result"'),
  answer: (turn) => ({
    ...base,
    content: [blockOf(turn)],
    stop_reason: reasonOf(turn),
    stop_sequence: null,
    usage,
  }),
  stream: (turn) =>
    [
      {
        type: 'message_start',
        message: {
          ...base,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usage, output_tokens: 1 },
        },
      },
      'text' in turn
        ? { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
        : { type: 'content_block_start', index: 0, content_block: { ...blockOf(turn), input: {} } },
      'text' in turn
        ? { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: turn.text } }
        : {
            type: 'content_block_delta',
            index: 0,
            delta: { type: 'input_json_delta', partial_json: JSON.stringify(turn.input) },
          },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: reasonOf(turn), stop_sequence: null }, usage },
      { type: 'message_stop' },
    ].map(event),
};
