import { asObject, asObjects, asText, type JsonObject } from './json.ts';
import { createPrompt, readChoice, readContent, readFormat, readLimit, type Turn } from './prompt.ts';
import { BadRequest, inTurn, openAiError, type Part, type Reply, type Speaker, wholeOf } from './speaker.ts';

const mostChoices = 4;

/** What a text adds to a message. Each kind has its own field; for reasoning, providers use different ones. */
const texts: Readonly<Record<string, (text: string) => JsonObject>> = {
  text: (text) => ({ content: text }),
  refusal: (text) => ({ refusal: text, content: null }),
  reasoning: (text) => ({ reasoning_content: text }),
  reasoningBesideContent: (text) => ({ reasoning_content: text, content: '' }),
  plainReasoning: (text) => ({ reasoning: text, role: 'assistant' }),
  reasoningDetails: (text) => ({ reasoning_details: [{ type: 'reasoning.text', index: 2, format: 'f-1', text }] }),
  reasoningSummary: (text) => ({ reasoning_details: [{ type: 'reasoning.summary', summary: text, index: 0 }] }),
  thinkingContent: (text) => ({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] }),
  transcript: (text) => ({ audio: { id: 'audio-1', transcript: text } }),
  unheardOf: (text) => ({ mood: text, status: 'at' }),
};

/** Chat completions. */
export const chat: Speaker = {
  kinds: Object.keys(texts),

  read(body) {
    if (!Array.isArray(body.messages) || body.messages.length === 0) {
      throw new BadRequest(400, "'messages' must be a list with at least one message.");
    }
    const choices = body.n ?? 1;
    if (typeof choices !== 'number' || !Number.isInteger(choices) || choices < 1 || choices > mostChoices) {
      throw new BadRequest(400, `'n' must be a whole number from 1 to ${mostChoices}.`);
    }
    const effort = body.reasoning_effort ?? asObject(body.reasoning).effort;
    const functions = asObjects(body.tools)
      .filter((tool) => tool.type === 'function')
      .map((tool) => asObject(tool.function));
    return createPrompt(asObjects(body.messages).map(readMessage), {
      choices,
      tools: functions.map((tool) => ({ name: asText(tool.name), schema: asObject(tool.parameters) })),
      choice: readChoice(body.tool_choice),
      parallel: body.parallel_tool_calls !== false,
      format: readFormat(body.response_format),
      thinks:
        (effort !== undefined && effort !== null && effort !== 'none') || asObject(body.reasoning).enabled === true,
      maxTokens: readLimit(body.max_completion_tokens ?? body.max_tokens),
      stop: [body.stop].flat().map(asText),
    });
  },

  whole(reply) {
    const choices = choicesOf(reply).map(([index, parts]) => {
      const calls = parts.filter(isCall);
      const message = Object.assign(
        { role: 'assistant', content: null, refusal: null },
        ...parts.filter((part) => !isCall(part)).map((part) => textDelta(part.kind, wholeOf(part))),
        ...(calls.length > 0 ? [{ content: null, ...wholeCalls(reply, calls) }] : []),
      );
      return { index, message, logprobs: null, finish_reason: finish(reply) };
    });
    return { ...envelope(reply, 'chat.completion'), choices, usage: usage(reply) };
  },

  events(reply, interleave = inTurn) {
    const chunk = (choices: readonly JsonObject[], rest: JsonObject = {}) => ({
      data: { ...envelope(reply, 'chat.completion.chunk'), choices, ...rest },
    });
    const runs = choicesOf(reply).map(([index, parts]) =>
      [...deltas(reply, parts).map((delta) => [delta, null] as const), [{}, finish(reply)] as const].map(
        ([delta, finish_reason]) => chunk([{ index, delta, finish_reason }]),
      ),
    );
    const counted = asObject(reply.body.stream_options).include_usage === true;
    return [...interleave(runs), ...(counted ? [chunk([], { usage: usage(reply) })] : []), { data: '[DONE]' }];
  },

  error: openAiError,
};

function readMessage(message: JsonObject): Turn {
  const content = readContent(message.content);
  if (message.role === 'user' || message.role === 'tool' || message.role === 'assistant') {
    return { ...content, role: message.role };
  }
  return { ...content, role: 'system' };
}

const isCall = ({ kind }: Part): boolean => kind === 'call';

const choicesOf = ({ answer }: Reply) => [...Map.groupBy(answer.parts, ({ choice = 0 }) => choice)];

function deltas(reply: Reply, parts: readonly Part[]): readonly JsonObject[] {
  const calls = parts.filter(isCall);
  return [
    { role: 'assistant', content: calls.length > 0 ? null : '', refusal: null },
    ...parts
      .filter((part) => !isCall(part))
      .flatMap(({ kind, pieces }) => pieces.map((piece) => textDelta(kind, piece))),
    ...calls.flatMap((call, index) => callDeltas(reply, call, index)),
  ];
}

function textDelta(kind: string, text: string): JsonObject {
  const spell = texts[kind];
  if (!spell) throw new Error(`chat completions have no text of the kind '${kind}'`);
  return spell(text);
}

function callDeltas({ id }: Reply, { tool, pieces }: Part, index: number): readonly JsonObject[] {
  const begin = { name: tool, arguments: '' };
  const rest = pieces.map((piece) => ({ arguments: piece }));
  const head = { id: `call_${id}_${index}`, type: 'function' };
  return [begin, ...rest].map((delta, at) => ({ tool_calls: [{ index, ...(at === 0 && head), function: delta }] }));
}

function wholeCalls({ id }: Reply, calls: readonly Part[]): JsonObject {
  const made = calls.map((call) => ({ name: call.tool, arguments: wholeOf(call) }));
  return { tool_calls: made.map((call, index) => ({ id: `call_${id}_${index}`, type: 'function', function: call })) };
}

const finish = ({ answer }: Reply): string => (answer.end === 'calls' ? 'tool_calls' : answer.end);

const envelope = ({ model, id, created, marks }: Reply, object: string): JsonObject => ({
  id: `chatcmpl-${id}`,
  object,
  created,
  model,
  ...marks,
});

function usage({ answer }: Reply): JsonObject {
  const { input, output, reasoning } = answer.usage;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
