import { elements, numberMember, presentMember, stringMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import {
  type AnswerSink,
  createCallArguments,
  type Literal,
  mostCalls,
  type ToolCall,
  UpstreamFault,
} from '../model/answer/answer-sink.ts';

/** A call whose name may not have arrived yet. */
interface OpenCall extends ToolCall {
  id: string;
  name: string;
  /** Arguments that arrived before the name. */
  readonly early: Literal[];
}

interface Fragment {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly text: Literal;
}

/** Assembles tool calls from the fragments that servers send, each in its own way. */
export function createChatCalls(sink: Pick<AnswerSink, 'call' | 'callArguments'>) {
  const byIndex = new Map<number, OpenCall>();
  const byId = new Map<string, OpenCall>();
  const nameless = new Set<OpenCall>();
  const begun: OpenCall[] = [];
  let last: OpenCall | undefined;

  function begin({ index, id }: Fragment): OpenCall {
    if (begun.length === mostCalls) throw new RangeError(`more than ${mostCalls} calls in one answer`);
    const call = { id, name: '', arguments: createCallArguments(), early: [] };
    begun.push(call);
    nameless.add(call);
    if (index !== undefined) byIndex.set(index, call);
    if (id !== '' && !byId.has(id)) byId.set(id, call);
    return call;
  }

  /** The call that a fragment continues. */
  function find({ index, id }: Fragment): OpenCall | undefined {
    if (index !== undefined) {
      const call = byIndex.get(index);
      const named = byId.get(id);
      // Some servers give every call the same index.
      return call && named && call !== named && call.id !== id && call.id !== '' ? named : call;
    }
    return byId.get(id) ?? last;
  }

  function take(fragment: Fragment, isWhole = false): void {
    const found = isWhole ? undefined : find(fragment);
    const call = found === undefined || isNext(found, fragment) ? begin(fragment) : found;
    last = call;
    call.id ||= fragment.id;
    if (call.name === '' && fragment.name !== '') {
      call.name = fragment.name;
      nameless.delete(call);
      sink.call(call);
      for (const text of call.early.splice(0)) addArguments(call, text);
    }
    if (fragment.text.length > 2 && !isRepeated(call, fragment.text)) addArguments(call, fragment.text);
  }

  function addArguments(call: OpenCall, text: Literal): void {
    if (call.name === '') {
      call.early.push(text);
      return;
    }
    call.arguments.add(text);
    sink.callArguments(call, text);
  }

  return {
    /** Reads the fragments of calls in a delta. */
    readDelta(json: Json, delta: Node | undefined): void {
      for (const fragment of readFragments(json, delta)) take(fragment);
    },
    /** Reads the calls of a message, which are whole. */
    readMessage(json: Json, message: Node): void {
      for (const fragment of readFragments(json, message)) {
        take(fragment, true);
      }
    },
    /** Whether the arguments of every call look complete. */
    get areClosed() {
      return begun.every((call) => call.arguments.isClosed);
    },
    /** Throws if a call never got a name. */
    end(): void {
      if (nameless.size > 0) throw new UpstreamFault('a tool call has no name');
    },
  };
}

function* readFragments(json: Json, message: Node | undefined): Generator<Fragment, void> {
  const calls = presentMember(json, message, 'tool_calls');
  if (calls !== undefined) {
    // Some servers send a single call without a list.
    for (const call of json.kind(calls) === 'object' ? [calls] : elements(json, calls)) {
      const made = presentMember(json, call, 'function') ?? presentMember(json, call, 'custom');
      const index = numberMember(json, call, 'index');
      yield { index, id: stringMember(json, call, 'id') ?? '', ...readFunction(json, made) };
    }
  }
  // The predecessor of `tool_calls`.
  const single = presentMember(json, message, 'function_call');
  if (single !== undefined) yield { index: undefined, id: '', ...readFunction(json, single) };
}

function readFunction(json: Json, made: Node | undefined): Pick<Fragment, 'name' | 'text'> {
  const given = presentMember(json, made, 'arguments') ?? presentMember(json, made, 'input');
  const raw = given === undefined ? '""' : json.raw(given);
  // Some servers send the arguments as an object.
  return { name: stringMember(json, made, 'name') ?? '', text: raw.startsWith('"') ? raw : JSON.stringify(raw) };
}

/**
 * Whether a fragment begins a new call, although it has this one's index or none. Some servers repeat the name in every fragment, others
 * send a new id with each.
 */
function isNext(call: OpenCall, { id, name, text }: Fragment): boolean {
  if (id !== '' && id === call.id) return false;
  const { isClosed, isEmpty } = call.arguments;
  if (id !== '' && call.id !== '') return name !== '' || isClosed;
  if (name === '' || call.name === '') return false;
  return name === call.name ? isClosed && !blank.test(text) : isClosed || isEmpty;
}

/** Some servers repeat the whole call when it is complete. */
const isRepeated = ({ arguments: given }: ToolCall, text: Literal): boolean => given.isClosed && given.literal === text;

const blank = /^"(\s|\\[nrt])*"$/;
