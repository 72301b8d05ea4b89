import { createGrowingText, decode, type Literal, type TextKind, type ToolCall } from '../model/answer/answer-sink.ts';
import type { AnswerOptions, Events } from '../model/answer/answer-writer.ts';
import type { ClientTool } from '../model/tools.ts';
import { type CustomInput, createCustomInput, inputIn } from './custom-input.ts';

export type ItemStatus = 'completed' | 'incomplete';
export type TextItem = ReturnType<typeof createTextItem>;
export type CallItem = ReturnType<typeof createCallItem>;

interface Place {
  readonly index: number;
  readonly id: string;
}

/** Writes the event that begins an item. Returns a function that writes the one that ends it. */
function openItem(events: Events, { index }: Place, begun: string) {
  const write = (what: string, item: string) =>
    events.write(`response.output_item.${what}`, `"output_index":${index},"item":${item}`);
  write('added', begun);
  return (item: string): string => {
    write('done', item);
    return item;
  };
}

/** The forms of text parts. Reasoning is sent as a summary, the only form that all clients read. */
const parts = {
  reasoning: {
    type: 'summary_text',
    member: 'text',
    event: 'response.reasoning_summary_text',
    partEvent: 'response.reasoning_summary_part',
    index: 'summary_index',
  },
  text: {
    type: 'output_text',
    member: 'text',
    event: 'response.output_text',
    partEvent: 'response.content_part',
    index: 'content_index',
  },
  refusal: {
    type: 'refusal',
    member: 'refusal',
    event: 'response.refusal',
    partEvent: 'response.content_part',
    index: 'content_index',
  },
} as const;

/** Begins a part of an item. `number`: the number of parts before it. */
function openPart(events: Events, kind: TextKind, { id, index: item }: Place, number: number) {
  const { type, member, event, partEvent, index } = parts[kind];
  const at = `"item_id":"${id}","output_index":${item},"${index}":${number}`;
  const whole = createGrowingText();
  const allLogprobs: string[] = [];
  const logprobsOf = (logprobs: string) => (kind === 'text' ? `,"logprobs":[${logprobs}]` : '');
  const partOf = (text: Literal) => {
    const others = kind === 'text' ? `,"annotations":[]${logprobsOf(allLogprobs.join(','))}` : '';
    return `{"type":"${type}","${member}":${text}${others}}`;
  };
  events.write(`${partEvent}.added`, `${at},"part":${partOf('""')}`);
  const noLogprobs = logprobsOf('');
  const write = events.prepare(`${event}.delta`, `${at}${noLogprobs},"delta":`);
  const writeWithLogprobs = events.prepare(`${event}.delta`, `${at},"delta":`);
  return {
    kind,
    add(text: Literal, logprobs?: string): void {
      whole.add(text);
      if (kind !== 'text' || logprobs === undefined) write(text, '');
      else {
        const inner = logprobs.slice(1, -1);
        allLogprobs.push(inner);
        writeWithLogprobs(text, logprobsOf(inner));
      }
    },
    close(): string {
      const { literal } = whole;
      events.write(`${event}.done`, `${at},"${member}":${literal}${logprobsOf(allLogprobs.join(','))}`);
      const part = partOf(literal);
      events.write(`${partEvent}.done`, `${at},"part":${part}`);
      return part;
    },
  };
}

/** An item of reasoning, or a message. `sealing`: set if the client should get reasoning to send back. */
export function createTextItem(
  events: Events,
  place: Place,
  type: 'reasoning' | 'message',
  sealing?: Pick<AnswerOptions, 'seal' | 'takeReasoning'>,
) {
  const { index, id } = place;
  const closed: string[] = [];
  const raw = createGrowingText();
  let open: ReturnType<typeof openPart> | undefined;
  const itemOf = (status: string, sealed = '') =>
    type === 'reasoning'
      ? `{"type":"reasoning","id":"${id}","summary":[${closed.join(',')}]${sealed}}`
      : `{"type":"message","id":"${id}","status":"${status}","role":"assistant","content":[${closed.join(',')}]}`;
  const takeReasoning = (): void => {
    if (sealing) raw.add(sealing.takeReasoning());
  };
  const finish = openItem(events, place, itemOf('in_progress'));
  return {
    type,
    index,
    add(kind: TextKind, text: Literal, logprobs?: string): void {
      if (open?.kind !== kind) {
        if (open) closed.push(open.close());
        open = openPart(events, kind, place, closed.length);
      }
      takeReasoning();
      open.add(text, logprobs);
    },
    takeReasoning,
    /** Writes the last events, and returns the item. */
    close(status: ItemStatus): string {
      if (open) closed.push(open.close());
      const reasoningBlock = decode(raw.literal);
      const secret = reasoningBlock === '' ? undefined : sealing?.seal(reasoningBlock);
      return finish(itemOf(status, secret === undefined ? '' : `,"encrypted_content":${JSON.stringify(secret)}`));
    },
  };
}

/** The forms of calls, by the kind of tool that the client declared. */
const forms = {
  function: { type: 'function_call', member: 'arguments', event: 'response.function_call_arguments', begins: '""' },
  custom: { type: 'custom_tool_call', member: 'input', event: 'response.custom_tool_call_input', begins: '""' },
  // Its arguments are an object, and have no events.
  tool_search: { type: 'tool_search_call', member: 'arguments', event: undefined, begins: '{}' },
} as const;

/** An item of a tool call, in the form of the client's declaration. */
export function createCallItem(
  events: Events,
  place: Place,
  { call, callId, tool, live }: { call: ToolCall; callId: string; tool: ClientTool; live: boolean },
) {
  const { index, id } = place;
  const { type, member, event, begins } = forms[tool.kind];
  const namespace = tool.namespace === undefined ? '' : `,"namespace":${JSON.stringify(tool.namespace)}`;
  const name = `,"name":${JSON.stringify(tool.name)}`;
  const named = tool.kind === 'tool_search' ? ',"execution":"client"' : `${name}${namespace}`;
  const head = `{"type":"${type}","id":"${id}","call_id":${JSON.stringify(callId)}${named},"${member}":`;
  const itemOf = (status: string, given: string) => `${head}${given},"status":"${status}"}`;
  const at = `"item_id":"${id}","output_index":${index}`;
  const input = tool.kind === 'custom' ? createCustomInput() : undefined;
  const shown = createGrowingText(); // of the input
  const finish = openItem(events, place, itemOf('in_progress', begins));
  const writeDelta = event === undefined ? () => {} : events.prepare(`${event}.delta`, `${at},"delta":`);
  const write = (text: Literal) => {
    if (text !== '""') writeDelta(text, '');
  };

  function showInput({ push }: CustomInput, text: Literal): void {
    const piece = JSON.stringify(push(decode(text)));
    shown.add(piece);
    write(piece);
  }

  /** The input, once the arguments are complete. What was already shown can't be changed. */
  function inputNow({ isCertain, isWhole }: CustomInput): string {
    if (isCertain && (live || (isWhole && call.arguments.isJson))) return shown.literal;
    const whole = JSON.stringify(inputIn(call.arguments.text));
    write(whole);
    return whole;
  }

  function argumentsNow(): string {
    const isObject = tool.kind === 'tool_search' && call.arguments.isJson;
    return isObject ? call.arguments.text.replace(/[\r\n]+/g, ' ') : call.arguments.literal;
  }

  return {
    index,
    add: (text: Literal): void => (input ? showInput(input, text) : write(text)),
    close(status: ItemStatus): string {
      if (!input && call.arguments.isEmpty) {
        call.arguments.add('"{}"');
        write('"{}"');
      }
      const given = input ? inputNow(input) : argumentsNow();
      const done = tool.kind === 'function' ? name : '';
      if (event !== undefined) events.write(`${event}.done`, `${at}${done},"${member}":${given}`);
      return finish(itemOf(status, given));
    },
    /** The unfinished item, without an event: clients run a call that is reported as done. */
    abandon: (): string => itemOf('incomplete', input ? shown.literal : argumentsNow()),
  };
}
