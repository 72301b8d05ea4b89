import { presentMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import {
  type AnswerSink,
  createCallArguments,
  createLengthCount,
  type Literal,
  mostCalls,
  type TextKind,
  type ToolCall,
  UpstreamFault,
} from '../model/answer/answer-sink.ts';
import { neutralId } from './call-ids.ts';

/** The members that hold the text of a block or a delta, by type. */
const texts: ReadonlyMap<string, { readonly kind: TextKind; readonly member: string }> = new Map([
  ['text', { kind: 'text', member: 'text' }],
  ['text_delta', { kind: 'text', member: 'text' }],
  ['thinking', { kind: 'reasoning', member: 'thinking' }],
  ['thinking_delta', { kind: 'reasoning', member: 'thinking' }],
]);
/** Other types that are expected, but not read here. */
const ignored = /^(redacted_thinking|signature_delta|citations_delta)$/;

export interface OpenBlock {
  readonly type: string;
  readonly call?: ToolCall;
}

/** Reads the blocks of a message. `endReasoningBlock` is called at the end of each reasoning block. */
export function createBlockReader(sink: AnswerSink, endReasoningBlock: () => void) {
  const count = createLengthCount();
  let calls = 0;
  let hasSaid = false;

  function emit(kind: TextKind, text: Literal): void {
    if (text.length > 2) sink.text(kind, text);
  }

  function addText(kind: TextKind, text: Literal): void {
    count(text);
    emit(kind, text);
  }

  function addArguments(call: ToolCall, text: Literal): void {
    if (text.length <= 2) return;
    count(text);
    call.arguments.add(text);
    sink.callArguments(call, text);
  }

  function addInput(json: Json, block: Node, call: ToolCall): void {
    const input = presentMember(json, block, 'input');
    if (input === undefined || json.next(input) === input + 1) return;
    addArguments(call, JSON.stringify(json.raw(input)));
  }

  function beginCall(json: Json, block: Node): ToolCall {
    if (++calls > mostCalls) throw new RangeError(`more than ${mostCalls} calls in one answer`);
    const name = stringMember(json, block, 'name') ?? '';
    if (name === '') throw new UpstreamFault('a tool call has no name');
    const call = { id: neutralId(stringMember(json, block, 'id') ?? ''), name, arguments: createCallArguments() };
    sink.call(call);
    return call;
  }

  return {
    addText,
    /** Begins a block, which may already be complete. */
    begin(json: Json, node: Node): OpenBlock {
      const type = stringMember(json, node, 'type') ?? '';
      count(json.raw(node)); // including signatures and encrypted content
      hasSaid ||= type === 'text';
      if (type === 'tool_use') {
        const call = beginCall(json, node);
        addInput(json, node, call);
        return { type, call };
      }
      const text = texts.get(type);
      const value = text && presentMember(json, node, text.member);
      if (!text && !ignored.test(type)) throw new UpstreamFault('a block is of a kind that nobody asked for');
      if (text && value !== undefined) emit(text.kind, textAt(json, value));
      return { type };
    },
    /** Adds the delta of an event to a block. Returns the kind of its text, if it is one. */
    addDelta(json: Json, { call }: OpenBlock): TextKind | undefined {
      const delta = presentMember(json, json.root, 'delta');
      const type = stringMember(json, delta, 'type') ?? '';
      const text = texts.get(type);
      const value = presentMember(json, delta, text?.member ?? 'partial_json');
      if (type === 'input_json_delta' && call !== undefined && value !== undefined)
        addArguments(call, textAt(json, value));
      else if (text !== undefined && value !== undefined) addText(text.kind, textAt(json, value));
      else if (delta !== undefined && ignored.test(type)) count(json.raw(delta));
      else throw new UpstreamFault('a delta belongs to no block');
      return text?.kind;
    },
    end({ type }: OpenBlock): void {
      if (type !== 'thinking' && type !== 'redacted_thinking') return;
      endReasoningBlock();
      sink.reasoningEnd(hasSaid);
    },
  };
}

/** Names have been hidden only in strings, so anything else is refused. */
function textAt(json: Json, value: Node): Literal {
  if (json.kind(value) !== 'string') throw new UpstreamFault('a text is no string');
  return json.raw(value);
}
