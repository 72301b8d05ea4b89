import { splitTokens } from './answer.ts';
import { type DemoDialect, type Reply, sseFrame } from './dialect.ts';
import { asObject, asObjects, asText, isObject, type JsonObject } from './json.ts';
import { createPrompt, readChoice, readContent, readFormat, readLimit, type Turn } from './prompt.ts';
import { sealText, VendorError, vendor, vendorId } from './vendor.ts';

/** Messages. */
export const messages: DemoDialect = {
  read(body) {
    if (!Array.isArray(body.messages) || body.messages.length === 0) {
      throw new VendorError(400, 'messages: Quillon needs at least one message.');
    }
    const { thinking, tool_choice: choice } = body;
    const turns = asObjects(body.messages).flatMap(readMessage);
    return createPrompt([{ role: 'system', ...readContent(body.system) }, ...turns], {
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
    content: blocks(reply),
    ...ending(reply),
    usage: usage(reply, reply.answer.usage.output),
  }),

  *frames(reply) {
    const frame = (type: string, data: JsonObject = {}) => sseFrame({ type, ...data }, type);
    const begun = { ...envelope(reply), content: [], stop_reason: null, stop_sequence: null, usage: usage(reply, 1) };
    yield frame('message_start', { message: begun });
    for (const [index, block] of blocks(reply).entries()) {
      const { begin, deltas } = unfold(block);
      yield frame('content_block_start', { index, content_block: begin });
      if (index === 0) yield frame('ping');
      for (const delta of deltas) yield frame('content_block_delta', { index, delta });
      yield frame('content_block_stop', { index });
    }
    yield frame('message_delta', { delta: ending(reply), usage: { output_tokens: reply.answer.usage.output } });
    yield frame('message_stop');
  },

  error: ({ status, message }) => ({
    type: 'error',
    error: { type: errorTypes[status] ?? 'invalid_request_error', message },
  }),
};

const errorTypes: Readonly<Record<number, string>> = { 401: 'authentication_error', 404: 'not_found_error' };

/** A user's message may contain tool results; those count as the later turns. */
function readMessage({ role, content }: JsonObject): Turn[] {
  const results = asObjects(content).filter((block) => block.type === 'tool_result');
  const own: Turn = { ...readContent(content), role: role === 'assistant' || role === 'system' ? role : 'user' };
  const bare = results.length > 0 && own.text === '' && own.images === 0;
  return [...(bare ? [] : [own]), ...results.map((block): Turn => ({ role: 'tool', ...readContent(block.content) }))];
}

function blocks({ answer, number }: Reply): readonly JsonObject[] {
  const { reasoning, text, calls } = answer;
  return [
    ...(reasoning ? [{ type: 'thinking', thinking: reasoning, signature: sealText(reasoning) }] : []),
    ...(calls.length === 0 ? [{ type: 'text', text }] : []),
    ...calls.map((call, index) => {
      return {
        type: 'tool_use',
        id: `${vendorId('toolu_', number)}_${index}`,
        name: call.name,
        input: JSON.parse(call.arguments),
      };
    }),
  ];
}

/** How a block is streamed: what it is when it begins, and the deltas that fill it. */
function unfold(block: JsonObject): { begin: JsonObject; deltas: readonly JsonObject[] } {
  const pieces = (text: string, type: string, field: string) =>
    splitTokens(text).map((piece) => ({ type, [field]: piece }));
  if (block.type === 'tool_use') {
    const deltas = pieces(JSON.stringify(block.input), 'input_json_delta', 'partial_json');
    return { begin: { ...block, input: {} }, deltas: [{ type: 'input_json_delta', partial_json: '' }, ...deltas] };
  }
  if (block.type === 'thinking') {
    const deltas = pieces(asText(block.thinking), 'thinking_delta', 'thinking');
    const signed = { type: 'signature_delta', signature: block.signature };
    return { begin: { ...block, thinking: '', signature: '' }, deltas: [...deltas, signed] };
  }
  return { begin: { ...block, text: '' }, deltas: pieces(asText(block.text), 'text_delta', 'text') };
}

function ending({ answer }: Reply): JsonObject {
  const reasons = { calls: 'tool_use', length: 'max_tokens', stop: 'end_turn' };
  const reason = answer.stopSequence === null ? reasons[answer.end] : 'stop_sequence';
  return { stop_reason: reason, stop_sequence: answer.stopSequence };
}

const envelope = ({ model, number }: Reply): JsonObject => ({
  id: vendorId('msg_', number),
  type: 'message',
  role: 'assistant',
  model,
  ...vendor.marks,
});

const usage = ({ answer }: Reply, output: number): JsonObject => ({
  input_tokens: answer.usage.input,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: output,
  service_tier: 'standard',
});
