import type { Piece } from '../../bodies.ts';
import { elements, numberMember, presentMember, stringMember } from '../../dialects/answer.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { AnswerDialect, AnswerReader } from '../answer/answer-reader.ts';
import {
  type AnswerSink,
  createCallArguments,
  createLengthCount,
  type Finish,
  type Literal,
  mostCalls,
  type TextKind,
  type ToolCall,
  UpstreamFault,
} from '../answer/answer-sink.ts';
import { createSignedThoughts } from './signed-thoughts.ts';

/** How answers of messages are read. */
export const messagesAnswers: AnswerDialect = {
  open(stops) {
    const thoughts = createSignedThoughts();
    return { thoughts, createReader: (sink) => createMessagesReader(sink, stops, thoughts.endBlock) };
  },
};

/** The members that hold the texts of blocks, and those of their deltas. */
const texts: ReadonlyMap<string, { readonly kind: TextKind; readonly member: string }> = new Map([
  ['text', { kind: 'text', member: 'text' }],
  ['text_delta', { kind: 'text', member: 'text' }],
  ['thinking', { kind: 'reasoning', member: 'thinking' }],
  ['thinking_delta', { kind: 'reasoning', member: 'thinking' }],
]);
/** Whatever else may come, and is not read here: thoughts for their maker alone, and what belongs to a text. */
const ignored = /^(redacted_thinking|signature_delta|citations_delta)$/;

type OpenBlock = { readonly type: string; readonly call?: ToolCall };

/**
 * Reads the events of one message, or a plain one. `stops`: the texts at which the caller wants the model to stop; `endThought` is called
 * where a thought ends.
 */
function createMessagesReader(sink: AnswerSink, stops: ReadonlySet<string>, endThought: () => void): AnswerReader {
  const count = createLengthCount();
  let calls = 0;
  let hasBegun = false;
  let isOver = false;
  let open: { readonly index: number; readonly block: OpenBlock } | undefined;
  let finish: { readonly reason: Finish; readonly stop: string | undefined } | undefined;
  let last: TextKind | undefined; // if a text is all that the last event says

  function tell(kind: TextKind, text: Literal): void {
    if (text.length > 2) sink.text(kind, text);
  }

  function addText(kind: TextKind, text: Literal): void {
    count(text);
    tell(kind, text);
  }

  function addArguments(call: ToolCall, text: Literal): void {
    if (text.length <= 2) return;
    count(text);
    call.arguments.add(text);
    sink.callArguments(call, text);
  }

  /** Begins a block, which may be whole already. */
  function beginBlock(json: Json, node: Node): OpenBlock {
    const type = stringMember(json, node, 'type') ?? '';
    count(json.raw(node)); // with what is sealed of it
    if (type === 'tool_use') return { type, call: beginCall(json, node) };
    const text = texts.get(type);
    const value = text && presentMember(json, node, text.member);
    if (!text && !ignored.test(type)) throw new UpstreamFault('a block is of a kind that nobody asked for');
    if (text && value !== undefined && json.kind(value) === 'string') tell(text.kind, json.raw(value));
    return { type };
  }

  function beginCall(json: Json, block: Node): ToolCall {
    if (++calls > mostCalls) throw new RangeError(`more than ${mostCalls} calls in one answer`);
    const name = stringMember(json, block, 'name') ?? '';
    if (name === '') throw new UpstreamFault('a tool call has no name');
    const call = { id: neutralId(stringMember(json, block, 'id') ?? ''), name, arguments: createCallArguments() };
    sink.call(call);
    const input = presentMember(json, block, 'input');
    const isEmpty = input === undefined || json.next(input) === input + 1;
    if (!isEmpty) addArguments(call, JSON.stringify(json.raw(input)));
    return call;
  }

  function endBlock({ type }: OpenBlock): void {
    if (type !== 'thinking' && type !== 'redacted_thinking') return;
    endThought();
    sink.reasoningEnd();
  }

  function readDelta(json: Json, { call }: OpenBlock): void {
    const delta = presentMember(json, json.root, 'delta');
    const type = stringMember(json, delta, 'type') ?? '';
    const text = texts.get(type);
    const value = presentMember(json, delta, text?.member ?? 'partial_json');
    if (type === 'input_json_delta' && call !== undefined && value !== undefined) {
      addArguments(call, json.raw(value));
    } else if (text !== undefined && value !== undefined) {
      addText(text.kind, json.raw(value));
      last = text.kind;
    } else if (delta !== undefined && ignored.test(type)) count(json.raw(delta));
    else throw new UpstreamFault('a delta belongs to no block');
  }

  function readStop(json: Json, holder: Node | undefined): void {
    const reason = stringMember(json, holder, 'stop_reason');
    if (reason === undefined) return;
    const stop = stringMember(json, holder, 'stop_sequence');
    finish = { reason: toFinish(reason), stop: stop !== undefined && stops.has(stop) ? stop : undefined };
  }

  function begin(): void {
    if (hasBegun) throw new UpstreamFault('the message begins twice');
    hasBegun = true;
    sink.begin();
  }

  function finishAll(): readonly Piece[] {
    isOver = true;
    if (finish === undefined) throw new UpstreamFault('the message does not say why it ends');
    return sink.finish(finish.reason, finish.stop);
  }

  const readers: Readonly<Record<string, (json: Json) => void>> = {
    message_start: begin,
    content_block_start(json) {
      const block = presentMember(json, json.root, 'content_block');
      if (open !== undefined || block === undefined) throw new UpstreamFault('a block begins within another');
      open = { index: numberMember(json, json.root, 'index') ?? 0, block: beginBlock(json, block) };
    },
    content_block_delta(json) {
      if (open?.index !== (numberMember(json, json.root, 'index') ?? 0)) {
        throw new UpstreamFault('a delta belongs to no block');
      }
      readDelta(json, open.block);
    },
    content_block_stop() {
      if (open === undefined) throw new UpstreamFault('a block ends that has not begun');
      endBlock(open.block);
      open = undefined;
    },
    message_delta: (json) => readStop(json, presentMember(json, json.root, 'delta')),
    message_stop: () => void finishAll(),
  };

  return {
    readEvent(json) {
      last = undefined;
      if (isOver) return;
      const type = stringMember(json, json.root, 'type') ?? '';
      const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
      if (read === undefined) return; // pings, and events of next month
      if (!hasBegun && type !== 'message_start') throw new UpstreamFault('the message has not begun');
      read(json);
    },
    readAnswer(json) {
      const content = presentMember(json, json.root, 'content');
      if (content === undefined || json.kind(content) !== 'array') throw new UpstreamFault('the answer has no content');
      begin();
      for (const block of elements(json, content)) endBlock(beginBlock(json, block));
      readStop(json, json.root);
      return finishAll();
    },
    repeat(text) {
      if (last === undefined || isOver) return false;
      addText(last, text);
      return true;
    },
    end() {
      if (!isOver) finishAll();
    },
    get isOver() {
      return isOver;
    },
  };
}

/** Ids of calls begin as their maker's own; of a chat's nothing is asked but that they are alike where they are repeated. */
const neutralId = (id: string): string => id.replace(/^toolu_(bdrk_|vrtx_)?/, 'call_');

const finishes: Readonly<Record<string, Finish>> = {
  ...{ max_tokens: 'length', model_context_window_exceeded: 'length', refusal: 'filtered' },
};

function toFinish(reason: string): Finish {
  // Only a tool of the vendor's pauses a turn, and none was offered.
  if (reason === 'pause_turn') throw new UpstreamFault('the message pauses');
  return Object.hasOwn(finishes, reason) ? (finishes[reason] ?? 'done') : 'done';
}
