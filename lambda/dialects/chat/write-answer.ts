import type { Piece } from '../../json/pieces.ts';
import {
  createGrowingText,
  decode,
  type Finish,
  type Literal,
  type TextKind,
  type ToolCall,
} from '../model/answer/answer-sink.ts';
import {
  type AnswerOptions,
  type AnswerWriter,
  countTokens,
  createCallIds,
  createEvents,
} from '../model/answer/answer-writer.ts';
import { toSealedPlace } from '../model/seal.ts';
import { toolNamed } from '../model/tools.ts';

/** Writes chat completions for a client. */
export function createChatWriter(options: AnswerOptions): AnswerWriter {
  const { live, model, newHex } = options;
  const id = `chatcmpl-${newHex()}`;
  const head = (object: string) =>
    `{"id":"${id}","object":"${object}","created":${Math.floor(options.now() / 1000)},"model":${JSON.stringify(model)}`;
  const chunk = `data: ${head('chat.completion.chunk')}`;
  const events = createEvents({ live, numbered: false, begin: () => chunk });
  const message = createMessage(options);
  const delta = (members: string, reason = 'null') =>
    events.write('', `"choices":[{"index":0,"delta":{${members}},"finish_reason":${reason}}]`);
  const prepare = (before: string, after: string) => {
    const write = events.prepare('', `"choices":[{"index":0,"delta":{${before}`);
    return (text: Literal): void => write(text, `${after}},"finish_reason":null}]`);
  };
  const writers = {
    text: prepare('"content":', ''),
    refusal: prepare('"refusal":', ''),
    reasoning: prepare('"reasoning_content":', ''),
  };

  return {
    events,
    begin: () => delta('"role":"assistant","content":""'),
    text(kind, text) {
      message.addText(kind, text);
      writers[kind](text);
    },
    reasoningEnd: message.takeReasoning,
    call(call) {
      const index = message.addCall(call);
      const name = JSON.stringify(toolNamed(options.tools, call.name).name);
      const begun = `"type":"function","function":{"name":${name},"arguments":""}`;
      delta(`"tool_calls":[{"index":${index},"id":${message.idOf(call)},${begun}}]`);
    },
    callArguments(call, text) {
      delta(`"tool_calls":[{"index":${message.indexOf(call)},"function":{"arguments":${text}}}]`);
    },
    finish(finish): readonly Piece[] {
      for (const call of message.endCalls()) {
        delta(`"tool_calls":[{"index":${message.indexOf(call)},"function":{"arguments":"{}"}}]`);
      }
      // Only once, as many clients keep only the last list.
      const { details } = message;
      if (details !== '') delta(details);
      const reason = `"${message.hasCalls && finish === 'done' ? 'tool_calls' : reasons[finish]}"`;
      delta('', reason);
      const usage = usageOf(options);
      if (options.streamUsage) events.write('', `"choices":[],"usage":${usage}`);
      events.pass('data: [DONE]\n\n');
      if (live) return [];
      const choice = `{"index":0,"message":${message.toJson()},"logprobs":null,"finish_reason":${reason}}`;
      return [`${head('chat.completion')},"choices":[${choice}],"usage":${usage}}`];
    },
  };
}

const reasons: Readonly<Record<Finish, string>> = { done: 'stop', length: 'length', filtered: 'content_filter' };

/** The message so far. Of a stream, only what its events need. */
function createMessage({ live, newHex, tools, takeReasoning, seal }: AnswerOptions) {
  const texts = { text: createGrowingText(), refusal: createGrowingText(), reasoning: createGrowingText() };
  const calls = new Map<ToolCall, { readonly index: number; readonly id: string }>();
  /** Reasoning in a form that the client can send back: OpenRouter's. */
  const reasoning: string[] = [];
  let shown = createGrowingText(); // of a reasoning block that has not ended
  const newId = createCallIds('call_', newHex);

  function writeCall([call, { id }]: readonly [ToolCall, { readonly id: string }]): string {
    const name = JSON.stringify(toolNamed(tools, call.name).name);
    return `{"id":${id},"type":"function","function":{"name":${name},"arguments":${call.arguments.literal}}}`;
  }

  return {
    addText(kind: TextKind, text: Literal): void {
      if (kind === 'reasoning') shown.add(text);
      if (!live) texts[kind].add(text);
    },
    takeReasoning(hasSaid: boolean): void {
      const [reasoningBlock, text] = [decode(takeReasoning()), shown.literal];
      shown = createGrowingText();
      if (reasoningBlock === '') return;
      // A chat message does not keep the order of reasoning, texts and calls.
      const sealed = seal((hasSaid || calls.size > 0 ? toSealedPlace(calls.size) : '') + reasoningBlock);
      if (sealed === undefined) return;
      const content =
        text === '""'
          ? `"type":"reasoning.encrypted","data":${JSON.stringify(sealed)}`
          : `"type":"reasoning.text","text":${text},"signature":${JSON.stringify(sealed)}`;
      reasoning.push(`{${content},"index":${reasoning.length}}`);
    },
    /** All reasoning as a member; empty if there is none to send back. */
    get details(): string {
      return reasoning.length === 0 ? '' : `"reasoning_details":[${reasoning.join(',')}]`;
    },
    /** Returns its index. */
    addCall(call: ToolCall): number {
      const index = calls.size;
      calls.set(call, { index, id: JSON.stringify(newId(call)) });
      return index;
    },
    indexOf: (call: ToolCall): number => calls.get(call)?.index ?? 0,
    idOf: (call: ToolCall): string => calls.get(call)?.id ?? '""',
    get hasCalls() {
      return calls.size > 0;
    },
    /** Gives an empty object to the calls without arguments, and returns them. */
    endCalls(): readonly ToolCall[] {
      const empty = [...calls.keys()].filter((call) => call.arguments.isEmpty);
      for (const call of empty) call.arguments.add('"{}"');
      return empty;
    },
    toJson(): string {
      const [text, refusal, reasoning] = [texts.text.literal, texts.refusal.literal, texts.reasoning.literal];
      const orNull = (literal: Literal) => (literal === '""' ? 'null' : literal);
      const { details } = this;
      return [
        `{"role":"assistant","content":${orNull(text)},"refusal":${orNull(refusal)}`,
        reasoning === '""' ? '' : `,"reasoning_content":${reasoning}`,
        details === '' ? '' : `,${details}`,
        calls.size > 0 ? `,"tool_calls":[${[...calls].map(writeCall).join(',')}]` : '',
        '}',
      ].join('');
    },
  };
}

function usageOf({ usage }: AnswerOptions): string {
  const { input, read, written, output, reasoning } = countTokens(usage);
  return JSON.stringify({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
    completion_tokens_details: { reasoning_tokens: reasoning },
  });
}
