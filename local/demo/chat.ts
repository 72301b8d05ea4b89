import { type Call, splitTokens } from './answer.ts';
import { type DemoDialect, openAiError, type Reply, sseFrame } from './dialect.ts';
import { asObject, asObjects, asText, type JsonObject } from './json.ts';
import { createPrompt, readChoice, readContent, readFormat, readLimit, type Turn } from './prompt.ts';
import { VendorError, vendor, vendorId } from './vendor.ts';

const mostChoices = 4;

/** Chat completions. */
export const chat: DemoDialect = {
  read(body) {
    if (!Array.isArray(body.messages) || body.messages.length === 0) {
      throw new VendorError(400, "Quillon needs 'messages': a list with at least one message.");
    }
    const n = body.n ?? 1;
    if (typeof n !== 'number' || !Number.isInteger(n) || n < 1 || n > mostChoices) {
      throw new VendorError(400, `Quillon gives 1 to ${mostChoices} choices, 'n' asks for something else.`);
    }
    const effort = body.reasoning_effort ?? asObject(body.reasoning).effort;
    const legacy = isLegacy(body);
    const functions = legacy
      ? asObjects(body.functions)
      : asObjects(body.tools)
          .filter((tool) => tool.type === 'function')
          .map((tool) => asObject(tool.function));
    return createPrompt(asObjects(body.messages).map(readMessage), {
      tools: functions.map((tool) => ({ name: asText(tool.name), schema: asObject(tool.parameters) })),
      choice: readChoice(legacy ? body.function_call : body.tool_choice),
      parallel: !legacy && body.parallel_tool_calls !== false,
      format: readFormat(body.response_format),
      thinks:
        (effort !== undefined && effort !== null && effort !== 'none') || asObject(body.reasoning).enabled === true,
      maxTokens: readLimit(body.max_completion_tokens ?? body.max_tokens),
      stop: [body.stop].flat().map(asText),
    });
  },

  whole(reply) {
    const { text, reasoning, calls } = reply.answer;
    const message = {
      role: 'assistant',
      content: calls.length > 0 ? null : text,
      refusal: null,
      ...(reasoning && { reasoning_content: reasoning }),
      ...(calls.length > 0 && (isLegacy(reply.body) ? { function_call: calls[0] } : { tool_calls: toolCalls(reply) })),
    };
    const choices = indexes(reply).map((index) => ({ index, message, logprobs: null, ...finish(reply) }));
    return { ...envelope(reply, 'chat.completion'), choices, usage: usage(reply) };
  },

  *frames(reply) {
    const withUsage = asObject(reply.body.stream_options).include_usage === true;
    const chunk = (choices: readonly JsonObject[]) =>
      sseFrame({ ...envelope(reply, 'chat.completion.chunk'), choices, ...(withUsage && { usage: null }) });
    yield ': QUILLON PROCESSING\n\n';
    for (const index of indexes(reply)) {
      for (const delta of deltas(reply)) yield chunk([{ index, delta, logprobs: null, finish_reason: null }]);
      yield chunk([{ index, delta: {}, logprobs: null, ...finish(reply) }]);
    }
    if (withUsage) {
      yield sseFrame({ ...envelope(reply, 'chat.completion.chunk'), choices: [], usage: usage(reply) });
    }
    yield sseFrame('[DONE]');
  },

  error: openAiError,
};

/** Before there were tools, there were functions, called one at a time. */
const isLegacy = (body: JsonObject): boolean => body.tools === undefined && Array.isArray(body.functions);

function readMessage(message: JsonObject): Turn {
  const content = readContent(message.content);
  if (message.role === 'function') return { ...content, role: 'tool' };
  if (message.role === 'user' || message.role === 'tool' || message.role === 'assistant') {
    return { ...content, role: message.role };
  }
  return { ...content, role: 'system' };
}

function* deltas({ answer, number, body }: Reply): Iterable<JsonObject> {
  yield { role: 'assistant', content: answer.calls.length > 0 ? null : '', refusal: null };
  for (const piece of splitTokens(answer.reasoning)) yield { reasoning_content: piece };
  for (const piece of splitTokens(answer.text)) yield { content: piece };
  if (isLegacy(body)) yield* answer.calls.flatMap(functionDeltas);
  else yield* answer.calls.flatMap((call, index) => toolDeltas(call, index, number));
}

function functionDeltas(call: Call): readonly JsonObject[] {
  const pieces = splitTokens(call.arguments).map((piece) => ({ arguments: piece }));
  return [{ name: call.name, arguments: '' }, ...pieces].map((delta) => ({ function_call: delta }));
}

function toolDeltas(call: Call, index: number, number: number): readonly JsonObject[] {
  const begin = { id: callId(number, index), type: 'function', function: { name: call.name, arguments: '' } };
  const pieces = splitTokens(call.arguments).map((piece) => ({ function: { arguments: piece } }));
  return [begin, ...pieces].map((delta) => ({ tool_calls: [{ index, ...delta }] }));
}

const toolCalls = ({ answer, number }: Reply): readonly JsonObject[] =>
  answer.calls.map((call, index) => ({ id: callId(number, index), type: 'function', function: call }));

const callId = (number: number, index: number): string => `${vendorId('call_', number)}_${index}`;

const indexes = (reply: Reply): readonly number[] => Array.from({ length: Number(reply.body.n ?? 1) }, (_, i) => i);

function finish({ answer, body }: Reply): JsonObject {
  const reason = answer.end !== 'calls' ? answer.end : isLegacy(body) ? 'function_call' : 'tool_calls';
  return { finish_reason: reason, native_finish_reason: `quillon_${reason}` };
}

const envelope = ({ model, number, created }: Reply, object: string): JsonObject => ({
  id: vendorId('chatcmpl-', number),
  object,
  created,
  model,
  ...vendor.marks,
});

function usage(reply: Reply): JsonObject {
  const { input, output, reasoning } = reply.answer.usage;
  const completion = output * indexes(reply).length;
  return {
    prompt_tokens: input,
    completion_tokens: completion,
    total_tokens: input + completion,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning * indexes(reply).length },
  };
}
