import { splitTokens } from './answer.ts';
import { type DemoDialect, openAiError, type Reply, sseFrame } from './dialect.ts';
import { asObject, asObjects, asText, type JsonObject } from './json.ts';
import { createPrompt, readChoice, readContent, readFormat, readLimit, type Turn } from './prompt.ts';
import { sealText, VendorError, vendor, vendorId } from './vendor.ts';

/** Responses. */
export const responses: DemoDialect = {
  read(body) {
    const turns = typeof body.input === 'string' ? [] : asObjects(body.input).map(readItem);
    if (typeof body.input === 'string') turns.push({ role: 'user', ...readContent(body.input) });
    if (turns.length === 0) throw new VendorError(400, "Quillon needs 'input': a text or a list of items.");
    const { effort, summary } = asObject(body.reasoning);
    return createPrompt([{ role: 'system', ...readContent(body.instructions) }, ...turns], {
      tools: asObjects(body.tools)
        .filter((tool) => tool.type === 'function')
        .map((tool) => ({ name: asText(tool.name), schema: asObject(tool.parameters) })),
      choice: readChoice(body.tool_choice),
      parallel: body.parallel_tool_calls !== false,
      format: readFormat(asObject(body.text).format),
      thinks: effort !== 'none' && Boolean(effort ?? summary),
      maxTokens: readLimit(body.max_output_tokens),
      stop: [],
    });
  },

  whole: (reply) => finished(reply),

  *frames(reply) {
    let sequence = 0;
    const frame = (type: string, data: JsonObject) => {
      sequence += 1;
      return sseFrame({ type, sequence_number: sequence - 1, ...data }, type);
    };
    const begun = envelope(reply, 'in_progress', []);
    yield frame('response.created', { response: begun });
    yield frame('response.in_progress', { response: begun });
    for (const [index, item] of outputItems(reply).entries()) {
      const place = { item_id: item.id, output_index: index };
      const { added, steps } = unfold(item, place);
      yield frame('response.output_item.added', { output_index: index, item: added });
      for (const [type, data] of steps) yield frame(type, data);
      yield frame('response.output_item.done', { output_index: index, item });
    }
    const response = finished(reply);
    yield frame(`response.${response.status}`, { response });
  },

  error: openAiError,
};

function readItem(item: JsonObject): Turn {
  if (/_call_output$/.test(asText(item.type))) return { role: 'tool', ...readContent(item.output) };
  if (item.type === 'input_image' || item.type === 'input_video') return { role: 'user', ...readContent([item]) };
  const content = readContent(item.content);
  if (item.role === 'system' || item.role === 'developer') return { ...content, role: 'system' };
  return { ...content, role: item.role === 'user' ? 'user' : 'assistant' };
}

type Step = readonly [type: string, data: JsonObject];

/** How an item is streamed: what it is when it is added, and the events that fill it. */
function unfold(item: JsonObject, place: JsonObject): { added: JsonObject; steps: Iterable<Step> } {
  if (item.type === 'function_call') {
    return { added: { ...item, status: 'in_progress', arguments: '' }, steps: callSteps(item, place) };
  }
  if (item.type === 'reasoning') return { added: { ...item, summary: [] }, steps: reasoningSteps(item, place) };
  return { added: { ...item, status: 'in_progress', content: [] }, steps: messageSteps(item, place) };
}

function* messageSteps(item: JsonObject, place: JsonObject): Iterable<Step> {
  const [part = {}] = asObjects(item.content);
  const at = { ...place, content_index: 0 };
  yield ['response.content_part.added', { ...at, part: { ...part, text: '' } }];
  for (const delta of splitTokens(asText(part.text)))
    yield ['response.output_text.delta', { ...at, delta, logprobs: [] }];
  yield ['response.output_text.done', { ...at, text: part.text, logprobs: [] }];
  yield ['response.content_part.done', { ...at, part }];
}

function* reasoningSteps(item: JsonObject, place: JsonObject): Iterable<Step> {
  const [part = {}] = asObjects(item.summary);
  const at = { ...place, summary_index: 0 };
  yield ['response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } }];
  for (const delta of splitTokens(asText(part.text))) yield ['response.reasoning_summary_text.delta', { ...at, delta }];
  yield ['response.reasoning_summary_text.done', { ...at, text: part.text }];
  yield ['response.reasoning_summary_part.done', { ...at, part }];
}

function* callSteps(item: JsonObject, place: JsonObject): Iterable<Step> {
  for (const delta of splitTokens(asText(item.arguments))) {
    yield ['response.function_call_arguments.delta', { ...place, delta }];
  }
  yield ['response.function_call_arguments.done', { ...place, name: item.name, arguments: item.arguments }];
}

function outputItems({ answer, number, body }: Reply): readonly JsonObject[] {
  const { reasoning, calls, text, end } = answer;
  const encrypted = Array.isArray(body.include) && body.include.includes('reasoning.encrypted_content');
  const thought = {
    id: vendorId('rs_', number),
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: reasoning }],
    ...(encrypted && { encrypted_content: sealText(reasoning) }),
  };
  const message = {
    id: vendorId('msg_', number),
    type: 'message',
    status: end === 'length' ? 'incomplete' : 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', annotations: [], logprobs: [], text }],
  };
  const functionCalls = calls.map((call, index) => ({
    id: `${vendorId('fc_', number)}_${index}`,
    type: 'function_call',
    status: 'completed',
    call_id: `${vendorId('call_', number)}_${index}`,
    ...call,
  }));
  return [...(reasoning ? [thought] : []), ...(calls.length > 0 ? functionCalls : [message])];
}

function finished(reply: Reply): JsonObject {
  const { input, output, reasoning } = reply.answer.usage;
  const cut = reply.answer.end === 'length';
  return {
    ...envelope(reply, cut ? 'incomplete' : 'completed', outputItems(reply)),
    incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output,
    },
  };
}

/** The parts of its request that a response repeats, from the first event on. */
function envelope({ model, number, created, body }: Reply, status: string, output: readonly JsonObject[]): JsonObject {
  return {
    id: vendorId('resp_', number),
    object: 'response',
    created_at: created,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    model,
    output,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null, ...asObject(body.reasoning) },
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: body.text ?? { format: { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? 1,
    truncation: 'disabled',
    usage: null,
    metadata: body.metadata ?? {},
    ...vendor.marks,
  };
}
