import type { ClientTool } from '../tools.ts';
import { createCustomInput } from './custom-input.ts';
import { type Call, createGrowingText, decode, type Literal } from './facts.ts';
import type { Writing } from './writer.ts';

/** An item of a response's output, from its first event to its last. */
export interface Item {
  /** Writes its last events and returns the item; an unfinished one is told as such. */
  close(status: ItemStatus): string;
}

export type ItemStatus = 'completed' | 'incomplete';

export interface TextItem extends Item {
  readonly kind: 'reasoning' | 'message';
  add(text: Literal, logprobs?: string): void;
  refuse(text: Literal): void;
}

export interface CallItem extends Item {
  readonly call: Call;
  add(text: Literal): void;
  /** The item as it is, without an event: a client would run a call that it is told to be done. */
  abandon(): string;
}

/** Where an item stands. */
export interface Place {
  readonly index: number;
  readonly id: string;
}

function openItem(events: ResponseEvents, { index }: Place, item: string): void {
  events.write('response.output_item.added', `"output_index":${index},"item":${item}`);
}

function closeItem(events: ResponseEvents, { index }: Place, item: string): string {
  events.write('response.output_item.done', `"output_index":${index},"item":${item}`);
  return item;
}

/**
 * What the model thought. It goes out as a summary, because that is the one form of it which all clients read. `sealing` makes what
 * the client shall send back, if it asked for that.
 */
export function createReasoning(
  events: ResponseEvents,
  place: Place,
  sealing?: Pick<Writing, 'seal' | 'takeThought'>,
): TextItem {
  const { index, id } = place;
  const at = `"item_id":"${id}","output_index":${index},"summary_index":0`;
  const whole = createGrowingText();
  const raw = createGrowingText();
  const partOf = (text: Literal) => `{"type":"summary_text","text":${text}}`;
  openItem(events, place, `{"type":"reasoning","id":"${id}","summary":[]}`);
  events.write('response.reasoning_summary_part.added', `${at},"part":${partOf('""')}`);
  const write = events.prepareDelta('response.reasoning_summary_text.delta', at);
  return {
    kind: 'reasoning',
    add(text) {
      whole.add(text);
      if (sealing) raw.add(sealing.takeThought());
      write(text);
    },
    refuse() {},
    close() {
      const part = partOf(whole.literal);
      events.write('response.reasoning_summary_text.done', `${at},"text":${whole.literal}`);
      events.write('response.reasoning_summary_part.done', `${at},"part":${part}`);
      const secret = sealing?.seal(decode(raw.literal));
      const sealed = secret === undefined ? '' : `,"encrypted_content":${JSON.stringify(secret)}`;
      return closeItem(events, place, `{"type":"reasoning","id":"${id}","summary":[${part}]${sealed}}`);
    },
  };
}

/** One part of a message: some text, or a refusal. */
interface Part {
  readonly kind: 'output_text' | 'refusal';
  add(text: Literal, logprobs?: string): void;
  close(): string;
}

function openPart(events: ResponseEvents, kind: Part['kind'], at: string): Part {
  const member = kind === 'refusal' ? 'refusal' : 'text';
  const whole = createGrowingText();
  const probabilities: string[] = [];
  const rest = (logprobs: string) => (kind === 'refusal' ? '' : `,"logprobs":[${logprobs}]`);
  const partOf = (text: Literal) => {
    const others = kind === 'refusal' ? '' : `,"annotations":[]${rest(probabilities.join(','))}`;
    return `{"type":"${kind}","${member}":${text}${others}}`;
  };
  events.write('response.content_part.added', `${at},"part":${partOf('""')}`);
  const delta = `response.${kind}.delta`;
  const write = events.prepareDelta(delta, at + rest(''));
  const writeWithProbabilities = events.prepareDelta(delta, at);
  return {
    kind,
    add(text, logprobs) {
      whole.add(text);
      if (logprobs === undefined) return write(text);
      const inner = logprobs.slice(1, -1);
      probabilities.push(inner);
      writeWithProbabilities(text, rest(inner));
    },
    close() {
      const { literal } = whole;
      events.write(`response.${kind}.done`, `${at},"${member}":${literal}${rest(probabilities.join(','))}`);
      const part = partOf(literal);
      events.write('response.content_part.done', `${at},"part":${part}`);
      return part;
    },
  };
}

/** What the model says to the caller: text, or its refusal to say more. */
export function createMessage(events: ResponseEvents, place: Place): TextItem {
  const { index, id } = place;
  const itemOf = (status: string, content: string) =>
    `{"type":"message","id":"${id}","status":"${status}","role":"assistant","content":[${content}]}`;
  const parts: string[] = [];
  let open: Part | undefined;
  openItem(events, place, itemOf('in_progress', ''));

  const partOf = (kind: Part['kind']): Part => {
    if (open?.kind === kind) return open;
    if (open) parts.push(open.close());
    open = openPart(events, kind, `"item_id":"${id}","output_index":${index},"content_index":${parts.length}`);
    return open;
  };

  return {
    kind: 'message',
    add: (text, logprobs) => partOf('output_text').add(text, logprobs),
    refuse: (text) => partOf('refusal').add(text),
    close(status) {
      if (open) parts.push(open.close());
      return closeItem(events, place, itemOf(status, parts.join(',')));
    },
  };
}

/** The forms that calls have, by what the client declared. */
const forms = {
  function: { type: 'function_call', member: 'arguments', event: 'response.function_call_arguments', begins: '""' },
  custom: { type: 'custom_tool_call', member: 'input', event: 'response.custom_tool_call_input', begins: '""' },
  // Its arguments are an object, and no events tell of them.
  tool_search: { type: 'tool_search_call', member: 'arguments', event: undefined, begins: '{}' },
} as const;

/** A call of a tool as the client declared it. */
export function createCall(
  events: ResponseEvents,
  place: Place,
  {
    call,
    callId,
    tool,
    live,
  }: { readonly call: Call; readonly callId: string; readonly tool: ClientTool; readonly live: boolean },
): CallItem {
  const { type, member, event, begins } = forms[tool.kind];
  const namespace = tool.namespace === undefined ? '' : `,"namespace":${JSON.stringify(tool.namespace)}`;
  const name = `,"name":${JSON.stringify(tool.name)}`;
  const named = tool.kind === 'tool_search' ? ',"execution":"client"' : `${name}${namespace}`;
  const head = `{"type":"${type}","id":"${place.id}","call_id":${JSON.stringify(callId)}${named},"${member}":`;
  const itemOf = (status: string, given: string) => `${head}${given},"status":"${status}"}`;
  const at = `"item_id":"${place.id}","output_index":${place.index}`;
  const input = tool.kind === 'custom' ? createCustomInput(live) : undefined;
  openItem(events, place, itemOf('in_progress', begins));
  const write = event === undefined ? () => {} : events.prepareDelta(`${event}.delta`, at);
  const show = (text: string) => {
    if (text !== '') write(JSON.stringify(text));
  };
  const argumentsNow = () => (tool.kind === 'tool_search' ? readObject(call) : call.arguments.literal);

  return {
    call,
    add(text) {
      if (input) show(input.push(decode(text)));
      else write(text);
    },
    close(status) {
      if (input) show(input.end());
      else if (call.arguments.isEmpty) {
        call.arguments.add('"{}"');
        write('"{}"');
      }
      const given = input ? JSON.stringify(input.shown) : argumentsNow();
      const done = tool.kind === 'function' ? name : '';
      if (event !== undefined) events.write(`${event}.done`, `${at}${done},"${member}":${given}`);
      return closeItem(events, place, itemOf(status, given));
    },
    abandon() {
      if (!input) return itemOf('incomplete', argumentsNow());
      const partly = createCustomInput(true);
      return itemOf('incomplete', JSON.stringify(partly.push(call.arguments.text)));
    },
  };
}

/** The arguments as JSON, on one line; as a text, if they are none. */
function readObject({ arguments: { text, literal } }: Call): string {
  try {
    JSON.parse(text);
    return text.replace(/[\r\n]+/g, ' ');
  } catch {
    return literal;
  }
}

/** The events of a response: each has a type, and a number that counts them. */
export interface ResponseEvents {
  /** Writes an event with these members, given as JSON. */
  write(type: string, members: string): void;
  /** Prepares an event that will be written for every piece of a text. It costs little more than its piece. */
  prepareDelta(type: string, members: string): (text: Literal, rest?: string) => void;
  take(): string;
  readonly nextSequence: number;
}

const number = ',"sequence_number":';

/** `live`: whether anyone reads them. */
export function createResponseEvents(live: boolean): ResponseEvents {
  let out = '';
  let sequence = 0;
  const begin = (type: string, members: string): string => `event: ${type}\ndata: {"type":"${type}",${members}`;
  // At the end, as it costs the least there: what stands before a text is the same for all its pieces.
  const end = (): string => `${sequence++}}\n\n`;

  return {
    write(type, members) {
      if (live) out += `${begin(type, members)}${number}${end()}`;
    },
    prepareDelta(type, members) {
      // Joined, as V8 would put a template together anew with each event.
      const head = [begin(type, members), ',"delta":'].join('');
      return (text, rest = '') => {
        if (live) out += head + text + rest + number + end();
      };
    },
    take() {
      const written = out;
      out = '';
      return written;
    },
    get nextSequence() {
      return sequence;
    },
  };
}
