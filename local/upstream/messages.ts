import { isObject } from '../../lambda/settings/json.ts';
import { asObject, asObjects, asText, type JsonObject } from './json.ts';
import { createPrompt, readChoice, readContent, readFormat, readLimit, type Turn } from './prompt.ts';
import { BadRequest, inTurn, type Part, type Reply, type Speaker, sealText, wholeOf } from './speaker.ts';

/** The block type for each kind of text, and the field that holds it. */
const texts: Readonly<
  Record<string, { readonly type: string; readonly member: string; readonly empty: string | null }>
> = {
  text: { type: 'text', member: 'text', empty: '' },
  reasoning: { type: 'thinking', member: 'thinking', empty: '' },
  compaction: { type: 'compaction', member: 'content', empty: null },
};

/** Messages. */
export const messages: Speaker = {
  kinds: Object.keys(texts),

  read(body) {
    if (!Array.isArray(body.messages) || body.messages.length === 0) {
      throw new BadRequest(400, 'messages: at least one message is required.');
    }
    const { thinking, tool_choice: choice } = body;
    const turns = asObjects(body.messages).flatMap(readMessage);
    return createPrompt([{ role: 'system', ...readContent(body.system) }, ...turns], {
      choices: 1,
      tools: asObjects(body.tools)
        .filter((tool) => isObject(tool.input_schema))
        .map((tool) => ({ name: asText(tool.name), schema: asObject(tool.input_schema) })),
      choice: readChoice(choice),
      parallel: asObject(choice).disable_parallel_tool_use !== true,
      format: readFormat(asObject(body.output_config).format),
      thinks: ['enabled', 'adaptive'].includes(asText(asObject(thinking).type)),
      maxTokens: readLimit(body.max_tokens),
      stop: Array.isArray(body.stop_sequences) ? body.stop_sequences.map(asText) : [],
    });
  },

  whole: (reply) => ({
    ...envelope(reply),
    content: blocks(reply).map(({ block }) => block),
    ...ending(reply),
    usage: usage(reply, reply.answer.usage.output),
  }),

  events(reply, interleave = inTurn) {
    const event = (type: string, data: JsonObject = {}) => ({ event: type, data: { type, ...data } });
    const begun = { ...envelope(reply), content: [], stop_reason: null, stop_sequence: null, usage: usage(reply, 1) };
    const runs = blocks(reply).map(({ begin, deltas }, index) => [
      event('content_block_start', { index, content_block: begin }),
      ...(index === 0 ? [event('ping')] : []),
      ...deltas.map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ]);
    return [
      event('message_start', { message: begun }),
      ...interleave(runs),
      event('message_delta', { delta: ending(reply), usage: { output_tokens: reply.answer.usage.output } }),
      event('message_stop'),
    ];
  },

  error: (status, message) => ({
    type: 'error',
    error: { type: errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error'), message },
  }),
};

const errorTypes: Readonly<Record<number, string>> = { 401: 'authentication_error', 404: 'not_found_error' };

/** Tool results in a user's message become turns of their own, after its text. */
function readMessage({ role, content }: JsonObject): Turn[] {
  const results = asObjects(content).filter((block) => block.type === 'tool_result');
  const own: Turn = { ...readContent(content), role: role === 'assistant' || role === 'system' ? role : 'user' };
  const bare = results.length > 0 && own.text === '' && own.images === 0;
  return [...(bare ? [] : [own]), ...results.map((block): Turn => ({ role: 'tool', ...readContent(block.content) }))];
}

interface Block {
  readonly block: JsonObject;
  /** The block as a stream starts it, and the deltas that fill it. */
  readonly begin: JsonObject;
  readonly deltas: readonly JsonObject[];
}

const blocks = (reply: Reply): readonly Block[] =>
  reply.answer.parts.map((part, index) => (part.kind === 'call' ? toolUse(reply, part, index) : textBlock(part)));

function toolUse({ id }: Reply, part: Part, index: number): Block {
  const block = { type: 'tool_use', id: `toolu_${id}_${index}`, name: part.tool, input: JSON.parse(wholeOf(part)) };
  const deltas = ['', ...part.pieces].map((partial_json) => ({ type: 'input_json_delta', partial_json }));
  return { block, begin: { ...block, input: {} }, deltas };
}

function textBlock(part: Part): Block {
  const { type, member, empty } = texts[part.kind] ?? { type: part.kind, member: part.kind, empty: '' };
  const deltas = part.pieces.map((piece) => ({ type: `${type}_delta`, [member]: piece }));
  const block = { type, [member]: wholeOf(part) };
  const begin = { type, [member]: empty };
  if (type !== 'thinking') return { block, begin, deltas };
  const signature = sealText(wholeOf(part));
  return {
    block: { ...block, signature },
    begin: { ...begin, signature: '' },
    deltas: [...deltas, { type: 'signature_delta', signature }],
  };
}

function ending({ answer: { end, stopSequence = null } }: Reply): JsonObject {
  const reasons = { calls: 'tool_use', length: 'max_tokens', stop: 'end_turn' };
  return { stop_reason: stopSequence === null ? reasons[end] : 'stop_sequence', stop_sequence: stopSequence };
}

const envelope = ({ model, id, marks }: Reply): JsonObject => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model,
  ...marks,
});

const usage = ({ answer }: Reply, output: number): JsonObject => ({
  input_tokens: answer.usage.input,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: output,
  service_tier: 'standard',
});
