import { asObject, asObjects, asText, type JsonObject } from './json.ts';
import { createPrompt, readChoice, readContent, readFormat, readLimit, type Turn } from './prompt.ts';
import { BadRequest, inTurn, openAiError, type Part, type Reply, type Speaker, sealText, wholeOf } from './speaker.ts';

/** Where each kind of text goes: its item, that item's list of parts, and the field of the part. */
const texts = {
  text: { item: 'message', list: 'content', type: 'output_text', member: 'text' },
  refusal: { item: 'message', list: 'content', type: 'refusal', member: 'refusal' },
  reasoning: { item: 'reasoning', list: 'summary', type: 'summary_text', member: 'text' },
  reasoningText: { item: 'reasoning', list: 'content', type: 'reasoning_text', member: 'text' },
};

/** Responses. */
export const responses: Speaker = {
  kinds: Object.keys(texts),
  countObject: 'response.input_tokens',

  read(body) {
    const turns = typeof body.input === 'string' ? [] : asObjects(body.input).map(readItem);
    if (typeof body.input === 'string') turns.push({ role: 'user', ...readContent(body.input) });
    if (turns.length === 0) throw new BadRequest(400, "'input' must be a text or a list with at least one item.");
    const { effort, summary } = asObject(body.reasoning);
    return createPrompt([{ role: 'system', ...readContent(body.instructions) }, ...turns], {
      choices: 1,
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

  whole: (reply) => finished(reply, items(reply)),

  events(reply, interleave = inTurn) {
    const made = items(reply);
    const runs = made.map(({ item, begin, steps }, index): readonly Step[] => [
      ['response.output_item.added', { output_index: index, item: begin }],
      ...steps.map(([type, data]): Step => [type, { item_id: item.id, output_index: index, ...data }]),
      ['response.output_item.done', { output_index: index, item }],
    ]);
    const begun = envelope(reply, 'in_progress', []);
    const response = finished(reply, made);
    const steps: readonly Step[] = [
      ['response.created', { response: begun }],
      ['response.in_progress', { response: begun }],
      ...interleave(runs),
      [`response.${response.status}`, { response }],
    ];
    return steps.map(([type, data], number) => ({ event: type, data: { type, sequence_number: number, ...data } }));
  },

  error: openAiError,

  compact({ answer, body, id, created, marks }) {
    const items = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : asObjects(body.input);
    const asked = items.flatMap(({ role, content }, index) => {
      const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : content;
      return role === 'user' ? [{ id: `msg_${id}_${index}`, type: 'message', role, content: parts }] : [];
    });
    const encrypted_content = sealText(JSON.stringify(items));
    const output = [...asked, { id: `cmp_${id}`, type: 'compaction', encrypted_content }];
    const head = { id: `resp_${id}`, object: 'response.compaction', created_at: created };
    return { ...head, output, usage: usageOf(answer), ...marks };
  },
};

function readItem(item: JsonObject): Turn {
  if (/_call_output$/.test(asText(item.type))) return { role: 'tool', ...readContent(item.output) };
  if (item.type === 'input_image' || item.type === 'input_video') return { role: 'user', ...readContent([item]) };
  const content = readContent(item.content);
  if (item.role === 'system' || item.role === 'developer') return { ...content, role: 'system' };
  return { ...content, role: item.role === 'user' ? 'user' : 'assistant' };
}

type Step = readonly [type: string, data: JsonObject];

interface Item {
  readonly item: JsonObject;
  /** The item as a stream adds it, and the events that fill it. */
  readonly begin: JsonObject;
  readonly steps: readonly Step[];
}

const items = (reply: Reply): readonly Item[] =>
  reply.answer.parts.map((part, index) => (part.kind === 'call' ? callItem : textItem)(reply, part, index));

function callItem({ id }: Reply, part: Part, index: number): Item {
  const call = { name: part.tool, arguments: wholeOf(part) };
  const item = {
    id: `fc_${id}_${index}`,
    type: 'function_call',
    status: 'completed',
    call_id: `call_${id}_${index}`,
    ...call,
  };
  return {
    item,
    begin: { ...item, status: 'in_progress', arguments: '' },
    steps: [
      ...part.pieces.map((delta): Step => ['response.function_call_arguments.delta', { delta }]),
      ['response.function_call_arguments.done', call],
    ],
  };
}

function textItem(reply: Reply, part: Part, index: number): Item {
  const { item: itemType, list, type, member } = texts[part.kind as keyof typeof texts];
  const whole = wholeOf(part);
  const logprobs = type === 'output_text' && { logprobs: [] };
  const holding = (text: string) => ({ type, ...(logprobs && { annotations: [], ...logprobs }), [member]: text });
  const item = { ...itemHead(reply, itemType, index, whole), [list]: [holding(whole)] };
  const [place, scope, event] =
    list === 'summary'
      ? [{ summary_index: 0 }, 'response.reasoning_summary_part', 'response.reasoning_summary_text']
      : [{ content_index: 0 }, 'response.content_part', `response.${type}`];
  return {
    item,
    begin: { ...item, ...('status' in item && { status: 'in_progress' }), [list]: [] },
    steps: [
      [`${scope}.added`, { ...place, part: holding('') }],
      ...part.pieces.map((delta): Step => [`${event}.delta`, { ...place, delta, ...logprobs }]),
      [`${event}.done`, { ...place, [member]: whole, ...logprobs }],
      [`${scope}.done`, { ...place, part: holding(whole) }],
    ],
  };
}

/** An item without its texts. */
function itemHead({ id, answer, body }: Reply, type: string, index: number, text: string): JsonObject {
  if (type === 'message') {
    const status = answer.end === 'length' ? 'incomplete' : 'completed';
    return { id: `msg_${id}_${index}`, type, status, role: 'assistant' };
  }
  const encrypted = Array.isArray(body.include) && body.include.includes('reasoning.encrypted_content');
  return { id: `rs_${id}_${index}`, type, summary: [], ...(encrypted && { encrypted_content: sealText(text) }) };
}

function finished(reply: Reply, made: readonly Item[]): JsonObject {
  const { end } = reply.answer;
  const output = made.map(({ item }) => item);
  return {
    ...envelope(reply, end === 'length' ? 'incomplete' : 'completed', output),
    incomplete_details: end === 'length' ? { reason: 'max_output_tokens' } : null,
    usage: usageOf(reply.answer),
  };
}

const usageOf = ({ usage: { input, output, reasoning } }: Reply['answer']): JsonObject => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});

/** The parts of the request that a response repeats, from the first event on. */
function envelope(reply: Reply, status: string, output: readonly JsonObject[]): JsonObject {
  const { model, id, created, body, marks } = reply;
  return {
    id: `resp_${id}`,
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
    ...marks,
  };
}
